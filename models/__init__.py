"""WHAT is solved: one folder per problem (data, judge, feasibility, formulation, assembly); no solving here."""
