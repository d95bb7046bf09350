"""Equation (10) as printed has no minimum; the corrected bound has step 8 and (11)."""

import numpy as np

right, wrong = 3.0, 1.2  # W+ and W- of one voter in one view, rho = 1
grid = np.linspace(-6, 6, 24001)  # values of delta


def printed(delta):
    return -((right * np.expm1(-delta) - wrong * np.expm1(delta)) ** 2)


def corrected(delta):
    return right * np.expm1(-delta) + wrong * np.expm1(delta)


step_8 = np.log(right / wrong) / 2
eq_11 = -((np.sqrt(right) - np.sqrt(wrong)) ** 2)
print(f"Step 8 gives delta = {step_8:.3f}, and (11) the value {eq_11:.3f}.")
print(f"(10) as printed is {printed(step_8):.3f} there, and {printed(1.0):.1f} at delta = 1.")
print(f"The corrected (10) has its minimum at {grid[corrected(grid).argmin()]:.3f}, ", end="")
print(f"and there the value {corrected(step_8):.3f}.")

assert printed(1.0) < printed(step_8)
assert printed(-24.0) < 1e3 * printed(-12.0) < 1e6 * printed(-6.0) < 0  # without end
assert abs(printed(step_8) - eq_11) > 1
assert abs(grid[corrected(grid).argmin()] - step_8) < 1e-3 and abs(corrected(step_8) - eq_11) < 1e-9
