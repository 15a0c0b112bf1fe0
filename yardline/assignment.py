"""`yl.assignment`: the instance, the plan, and a plan that lives (`Live`)."""

from yardline.models.assignment.data import INSTANCE, SOLUTION, Assignment, AssignmentPlan
from yardline.solvers.assignment.live import Live

__all__ = ["INSTANCE", "SOLUTION", "Assignment", "AssignmentPlan", "Live"]
