"""The Python package next to SymPy with SciPy, python-control and rumoca: time, accuracy at equal tolerance, lines of user code.

Usage: python benches/python_peers.py [REPETITIONS]. Requires the package of this repository and `pip install scipy sympy control rumoca`; a
missing peer is left out. Two models start away from equilibrium: the relaxation oscillator of examples/van_der_pol.lgm, and a pendulum that
hangs from a cart. Each peer gets the physics in the form that its users write: elements for lgm, energies for SymPy, explicit equations for
python-control, and implicit equations for rumoca. A build is everything from the text to the first call; a run has 501 samples and a
relative tolerance of 1e-8. The error is the largest one of all samples relative to the largest value; the reference is an eighth-order
Runge-Kutta method with a tolerance of 1e-13. Times are the shortest of all repetitions. The lines of a peer are those of its functions below.
"""

import inspect
import sys
import time
import warnings

import numpy as np
from scipy.integrate import solve_ivp

warnings.simplefilter("ignore")
RTOL, ATOL = 1e-8, 1e-10
REPETITIONS = int(sys.argv[1]) if len(sys.argv) > 1 else 5


class VanDerPol:
    stop = 40.0
    start = [0.1, 0.0]

    @staticmethod
    def rates(t, x):
        return [-x[1] + 3 * (x[0] - x[0] ** 3 / 3), x[0]]

    @staticmethod
    def lgm_build():
        import lgm

        return lgm.loads("""
            model VanDerPol {
              param mu = 3 [S];
              node a : electrical;
              cap : Capacitor(1 [F]) a -> gnd, start = 0.1;
              coil : Inductor(1 [H]) a -> gnd;
              signal v = across(cap)/1 [V];
              active : CurrentSource(mu*1 [V]*(v - v^3/3)) gnd -> a;
              output u = across(cap);
            }""")

    @staticmethod
    def lgm_run(model, times):
        return model.simulate(times[-1], points=len(times), rtol=RTOL, atol=ATOL)["u"]

    @staticmethod
    def sympy_build():
        import sympy

        t, u, i, mu = *sympy.symbols("t u i"), 3
        current_of_source = mu * (u - u**3 / 3)
        rates = sympy.Matrix([current_of_source - i, u])
        f = sympy.lambdify([t, [u, i]], list(rates))
        jacobian = sympy.lambdify([t, [u, i]], rates.jacobian([u, i]).tolist())
        return f, jacobian

    @staticmethod
    def sympy_run(built, times):
        f, jacobian = built
        found = solve_ivp(f, (0, times[-1]), [0.1, 0], "LSODA", times, rtol=RTOL, atol=ATOL, jac=jacobian)
        return found.y[0]

    @staticmethod
    def control_build():
        import control

        def rates(t, x, u, params):
            mu = params["mu"]
            return np.array([mu * (x[0] - x[0] ** 3 / 3) - x[1], x[0]])

        return control.nlsys(rates, lambda t, x, u, params: x[0], inputs=0, outputs=["u"], states=["u", "i"], params={"mu": 3})

    @staticmethod
    def control_run(system, times):
        import control

        options = {"rtol": RTOL, "atol": ATOL}
        return control.input_output_response(system, times, 0, [0.1, 0], solve_ivp_kwargs=options).outputs

    @staticmethod
    def rumoca_build():
        import rumoca

        return rumoca.Session().loads("""
            model VanDerPol
              parameter Real mu = 3;
              Real u(start = 0.1, fixed = true);
              Real i(start = 0, fixed = true);
            equation
              der(u) = mu*(u - u^3/3) - i;
              der(i) = u;
            end VanDerPol;""", model="VanDerPol")

    @staticmethod
    def rumoca_run(model, times):
        import rumoca

        found = model.simulate((0, times[-1]), config=rumoca.SimConfig(rtol=RTOL, atol=ATOL, dt=times[1]))
        return found["u"]


class CartPendulum:
    stop = 6.0
    # The angle first: it is compared.
    start = [1.0, 0.0, 0.0]

    @staticmethod
    def rates(t, x):
        M, m, J, l, b, g = 1.2, 0.4, 0.012, 0.3, 0.1, 9.81
        angle, w, v = x
        s, c = np.sin(angle), np.cos(angle)
        a, d, e = J + m * l * l, m * l * c, M + m
        p, q = -m * g * l * s, m * l * w * w * s - b * v
        return [w, (p * e - d * q) / (a * e - d * d), (a * q - d * p) / (a * e - d * d)]

    @staticmethod
    def lgm_build():
        import lgm

        return lgm.loads("""
            import planar;
            model CartPendulum {
              param M = 1.2 [kg]; param m = 0.4 [kg]; param J = 0.012 [kg.m^2];
              param l = 0.3 [m]; param b = 0.1 [N.s/m]; param g = 9.81 [m/s^2];
              node pin[2] vector, centre[2] vector : translational;
              node turn : rotational;
              cart : Mass(M) pin[1] -> gnd;
              wheels : Damper(b) pin[1] -> gnd;
              rail : VelocitySource(0) pin[2] -> gnd;
              rod : PlanarBody(n = 1, m = m, J = J, marks = [[0, l]], angle_0 = 1)
                (turn = turn, centre = centre, point = [pin]);
              weight : ForceSource([0, -m*g]) gnd -> centre;
              output angle = rod.angle;
            }""")

    @staticmethod
    def lgm_run(model, times):
        return model.simulate(times[-1], points=len(times), rtol=RTOL, atol=ATOL)["angle"]

    @staticmethod
    def sympy_build():
        import sympy
        from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols

        t, (M, m, J, l, b, g) = dynamicsymbols._t, (1.2, 0.4, 0.012, 0.3, 0.1, 9.81)
        x, angle = dynamicsymbols("x angle")
        v, w = x.diff(t), angle.diff(t)
        centre = sympy.Matrix([x + l * sympy.sin(angle), -l * sympy.cos(angle)])
        velocity = centre.diff(t)
        kinetic = M * v**2 / 2 + m * velocity.dot(velocity) / 2 + J * w**2 / 2
        method = LagrangesMethod(kinetic - m * g * centre[1], [angle, x])
        equations = method.form_lagranges_equations() + sympy.Matrix([0, b * v])
        a = sympy.symbols("a:2")
        accelerations = {w.diff(t): a[0], v.diff(t): a[1]}
        solved = sympy.solve(list(equations.subs(accelerations)), a)
        names = sympy.symbols("q w v")
        plain = {w: names[1], v: names[2], angle: names[0]}
        rates = sympy.Matrix([names[1], *(solved[entry].subs(plain) for entry in a)])
        f = sympy.lambdify([t, names], list(rates), cse=True)
        jacobian = sympy.lambdify([t, names], rates.jacobian(names).tolist(), cse=True)
        return f, jacobian

    @staticmethod
    def sympy_run(built, times):
        f, jacobian = built
        found = solve_ivp(f, (0, times[-1]), [1, 0, 0], "LSODA", times, rtol=RTOL, atol=ATOL, jac=jacobian)
        return found.y[0]

    @staticmethod
    def control_build():
        import control

        def rates(t, x, u, params):
            M, m, J, l, b, g = (params[name] for name in ("M", "m", "J", "l", "b", "g"))
            angle, w, v = x
            s, c = np.sin(angle), np.cos(angle)
            mass = np.array([[J + m * l**2, m * l * c], [m * l * c, M + m]])
            force = np.array([-m * g * l * s, m * l * w**2 * s - b * v])
            return np.array([w, *np.linalg.solve(mass, force)])

        values = {"M": 1.2, "m": 0.4, "J": 0.012, "l": 0.3, "b": 0.1, "g": 9.81}
        return control.nlsys(rates, lambda t, x, u, params: x[0], inputs=0, outputs=["angle"], states=3, params=values)

    @staticmethod
    def control_run(system, times):
        import control

        options = {"rtol": RTOL, "atol": ATOL}
        return control.input_output_response(system, times, 0, [1, 0, 0], solve_ivp_kwargs=options).outputs

    @staticmethod
    def rumoca_build():
        import rumoca

        return rumoca.Session().loads("""
            model CartPendulum
              parameter Real M = 1.2; parameter Real m = 0.4; parameter Real J = 0.012;
              parameter Real l = 0.3; parameter Real b = 0.1; parameter Real g = 9.81;
              Real angle(start = 1, fixed = true);
              Real w(start = 0, fixed = true);
              Real v(start = 0, fixed = true);
            equation
              der(angle) = w;
              (J + m*l^2)*der(w) + m*l*cos(angle)*der(v) = -m*g*l*sin(angle);
              m*l*cos(angle)*der(w) + (M + m)*der(v) = m*l*w^2*sin(angle) - b*v;
            end CartPendulum;""", model="CartPendulum")

    @staticmethod
    def rumoca_run(model, times):
        import rumoca

        found = model.simulate((0, times[-1]), config=rumoca.SimConfig(rtol=RTOL, atol=ATOL, dt=times[1]))
        return found["angle"]


def lines(*functions):
    """The lines of the bodies, without blank ones, comments and closing quotes."""
    count = 0
    for function in functions:
        text = inspect.getsource(function).splitlines()[2:]
        count += sum(bool(line.strip()) and not line.strip().startswith("#") for line in text)
    return count


def shortest(work):
    """The shortest time of the work in s, and its result."""
    best, result = np.inf, None
    for _ in range(REPETITIONS):
        begin = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - begin)
    return best, result


def main():
    print("| model | | build [ms] | run [ms] | error | lines |\n| --- | --- | --- | --- | --- | --- |")
    for model in (VanDerPol, CartPendulum):
        times = np.linspace(0, model.stop, 501)
        exact = solve_ivp(model.rates, (0, model.stop), model.start, "DOP853", times, rtol=1e-13, atol=1e-15).y[0]
        for peer in ("lgm", "sympy", "control", "rumoca"):
            build, run = getattr(model, f"{peer}_build"), getattr(model, f"{peer}_run")
            try:
                build()
            except ImportError:
                continue
            building, built = shortest(build)
            try:
                running, found = shortest(lambda: run(built, times))
            except Exception as error:
                print(f"| {model.__name__} | {peer} | {1e3 * building:.1f} | {type(error).__name__}: {error} | | {lines(build, run)} |")
                continue
            found = np.ravel(found)
            error = np.max(np.abs(found - exact)) / np.max(np.abs(exact)) if len(found) == len(exact) else np.nan
            print(f"| {model.__name__} | {peer} | {1e3 * building:.1f} | {1e3 * running:.2f} | {error:.1e} | {lines(build, run)} |", flush=True)


main()
