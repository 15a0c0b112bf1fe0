"""The LOOPS that make large instances tractable: relax and round, reweighted sampling, parts, flow repair."""
