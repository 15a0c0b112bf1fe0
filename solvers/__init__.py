"""HOW one program or one instance is solved: solvers behind one contract, certificates, exact methods, heuristics."""
