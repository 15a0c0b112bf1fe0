"""A program through HiGHS, without the package's own solvers."""

from __future__ import annotations

import math

import highspy
import numpy as np

from yardline.models.program import Program


def solved(program: Program, *, relax: bool = False) -> tuple[float, np.ndarray | None]:
    """The optimal value and a point; (inf, None) where there is none."""
    if program.shape[1] == 0:  # HiGHS calls a model without columns empty
        return (program.offset, np.zeros(0)) if not (program.row_low > 0).any() else (math.inf, None)
    lp = highspy.HighsLp()
    lp.num_row_, lp.num_col_ = program.shape
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = program.cost, program.col_low, program.col_high
    lp.row_lower_, lp.row_upper_ = program.row_low, program.row_high
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = program.matrix.indptr.astype(np.int32)
    lp.a_matrix_.index_ = program.matrix.indices.astype(np.int32)
    lp.a_matrix_.value_ = program.matrix.data
    if not relax:
        whole, real = highspy.HighsVarType.kInteger, highspy.HighsVarType.kContinuous
        lp.integrality_ = [whole if integer else real for integer in program.integer]
    highs = highspy.Highs()
    for name, value in {"output_flag": False, "threads": 1, "mip_rel_gap": 0.0, "mip_abs_gap": 0.0}.items():
        assert highs.setOptionValue(name, value) == highspy.HighsStatus.kOk
    highs.passModel(lp)
    highs.run()
    status = highs.getModelStatus()
    if status == highspy.HighsModelStatus.kInfeasible:
        return math.inf, None
    assert status == highspy.HighsModelStatus.kOptimal, status
    return highs.getInfo().objective_function_value + program.offset, np.array(highs.getSolution().col_value)
