#!/usr/bin/env python3
"""Runs the test suites of other projects over the C interfaces, RocksDB's C++ names, and the binding for Python.

    python3 run_suites.py PREFIX WORK [SUITE...]

PREFIX has an installation (include, lib); WORK is a directory for sources and builds, which is kept between runs. The
sources come from the registries of Rust, Go and Python, in the versions named below. tests/suites/SUITE.listed has the
tests that do not pass, each with its reason. A suite fails if a test that is not listed fails, if a listed one passes,
or if the number of tests is not that of the list. Ends with "N passed, N failed".
"""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
RUST_ROCKSDB = "0.25.0"
LIBROCKSDB_SYS = "0.19.0"  # the one that it binds
GROCKSDB = "v1.11.1"
LEVELDB_SYS = "2.0.9"
PLYVEL = "1.5.1"
SECONDS_FOR_A_TEST = 100
# Tests of the compiler build the whole crate.
SECONDS_FOR_A_COMPILER = 400


# Parts of phases of RocksDB's test that can be left out by themselves: their name, the phase, and where they begin and
# end.
PARTS_OF_PHASES = {
    "transactions: log data": ("transactions", "    // verify log data was written to WAL",
                               "    rocksdb_transactiondb_close_base_db(base_db_ld);"),
}


class Missing(Exception):
    """A tool is not installed, or a registry does not answer: the suite is skipped."""


def run(command, **more):
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", **more)
    if done.returncode != 0:
        raise RuntimeError(f"{command}: {done.stderr[-2000:]}{done.stdout[-2000:]}")
    return done.stdout


def need(tool):
    if shutil.which(tool) is None:
        raise Missing(f"{tool} is not installed")


def crate_of(work, name, version):
    """Returns the directory with the sources of a crate."""
    need("cargo")
    project = os.path.join(work, "fetch_" + name)
    os.makedirs(os.path.join(project, "src"), exist_ok=True)
    with open(os.path.join(project, "Cargo.toml"), "w", encoding="utf-8") as out:
        out.write(f'[package]\nname = "fetch"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\n{name} = "={version}"\n')
    with open(os.path.join(project, "src", "main.rs"), "w", encoding="utf-8") as out:
        out.write("fn main() {}\n")
    try:
        run(["cargo", "fetch"], cwd=project)
    except RuntimeError as error:
        raise Missing(f"the crate {name} {version} could not be fetched: {error}") from error
    found = run(["cargo", "metadata", "--format-version", "1", "--offline"], cwd=project)
    # A version may have a suffix, as in "0.19.0+11.8.1".
    path = re.search(r'"manifest_path":"([^"]*/' + re.escape(f"{name}-{version}") + r'(?:\+[^"/]*)?)/Cargo.toml"', found)
    return path[1]


def rocksdb_source(work):
    """The sources of RocksDB that rust-rocksdb binds: its header, and its test of the C interface."""
    return os.path.join(crate_of(work, "librocksdb-sys", LIBROCKSDB_SYS), "rocksdb")


def copy_once(source, target, **more):
    """Copies a directory, wholly or not at all."""
    if not os.path.exists(target):
        shutil.rmtree(target + ".part", ignore_errors=True)
        shutil.copytree(source, target + ".part", **more)
        run(["chmod", "-R", "u+w", target + ".part"])
        os.rename(target + ".part", target)


def library_for_rocksdb(prefix, work):
    """A directory in which the linker finds this library under RocksDB's name."""
    directory = os.path.join(work, "lib")
    os.makedirs(directory, exist_ok=True)
    link = os.path.join(directory, "librocksdb.so")
    if os.path.lexists(link):
        os.remove(link)
    os.symlink(os.path.join(prefix, "lib", "libcambium_rocksdb.so"), link)
    return directory


def outcome(command, environment, directory, seconds, proof=""):
    """True if the test passes: its output has the proof that it has run. In a group of its own, so that what it has
    started ends with it."""
    process = subprocess.Popen(command, env=environment, cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               start_new_session=True)
    try:
        output, _ = process.communicate(timeout=seconds)
        text = output.decode(errors="replace")
        return process.returncode == 0 and proof in text, text
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.communicate()
        return False, f"it took more than {seconds} s"


def run_each(tests, jobs=2):
    """tests: name -> function. Returns the names of those that pass, and the outputs of the others."""
    passed, failed = set(), {}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        running = {name: pool.submit(test) for name, test in tests.items()}
        for name, result in running.items():
            ok, output = result.result()
            if ok:
                passed.add(name)
            else:
                failed[name] = output
    return passed, failed


def environment_of(work, libraries):
    scratch = os.path.join(work, "tmp")
    shutil.rmtree(scratch, ignore_errors=True)
    os.makedirs(scratch)
    return dict(os.environ, LD_LIBRARY_PATH=":".join(libraries), TMPDIR=scratch, TEST_TMPDIR=scratch)


def rust_rocksdb(prefix, work):
    source = crate_of(work, "rocksdb", RUST_ROCKSDB)
    build = os.path.join(work, f"rust-rocksdb-{RUST_ROCKSDB}")
    copy_once(source, build, ignore=shutil.ignore_patterns("rust-toolchain*"))  # the compiler that is installed
    library = library_for_rocksdb(prefix, work)
    environment = environment_of(work, [library, os.path.join(prefix, "lib")])
    environment["ROCKSDB_LIB_DIR"] = library
    built = run(["cargo", "test", "--no-run", "--message-format=json"], cwd=build, env=environment)
    programs = sorted(set(re.findall(r'"executable":"([^"]*/deps/[^"]*)"', built)))
    tests = {}
    for program in programs:
        kind = re.sub(r"-[0-9a-f]*$", "", os.path.basename(program))
        ignored = run([program, "--list", "--ignored"], cwd=build, env=environment).splitlines()
        for line in run([program, "--list"], cwd=build, env=environment).splitlines():
            if line.endswith(": test") and line not in ignored:
                name = line[:-6]
                seconds = SECONDS_FOR_A_COMPILER if "outlive" in name or "multiple_refs" in name else SECONDS_FOR_A_TEST
                command = [program, "--exact", name, "--test-threads=1"]
                tests[f"{kind}::{name}"] = lambda c=command, s=seconds: outcome(c, environment, build, s, "1 passed;")
    return run_each(tests)


def grocksdb(prefix, work):
    need("go")
    need("gcc")
    try:
        found = run(["go", "mod", "download", "-json", f"github.com/linxGnu/grocksdb@{GROCKSDB}"], cwd=work)
    except RuntimeError as error:
        raise Missing(f"grocksdb {GROCKSDB} could not be fetched: {error}") from error
    build = os.path.join(work, f"grocksdb-{GROCKSDB}")
    copy_once(re.search(r'"Dir": "([^"]*)"', found)[1], build)
    library = library_for_rocksdb(prefix, work)
    environment = environment_of(work, [library, os.path.join(prefix, "lib")])
    environment["CGO_CFLAGS"] = "-I" + os.path.join(rocksdb_source(work), "include")
    environment["CGO_LDFLAGS"] = "-L" + library
    environment["GOFLAGS"] = "-mod=mod"
    program = os.path.join(build, "suite.test")
    run(["go", "test", "-tags", "grocksdb_clean_link", "-c", "-o", program, "."], cwd=build, env=environment)
    names = run([program, "-test.list", "^Test"], cwd=build, env=environment).split()
    return run_each({
        name: lambda n=name: outcome([program, "-test.v", "-test.run", f"^{n}$"], environment, build, SECONDS_FOR_A_TEST,
                                     f"--- PASS: {n} ")
        for name in names
    })


def rocksdb_c(prefix, work):
    """RocksDB's own test of its C interface: one program of phases, each of which needs those before it. The listed
    phases and parts of phases are left out, the others run; a listed one whose program passes when it is put back is
    reported."""
    need("gcc")
    source = rocksdb_source(work)
    with open(os.path.join(source, "db", "c_test.c"), encoding="utf-8") as text:
        whole = text.read()
    start = whole.index("int main(")
    parts = re.split(r'(?m)^(?=  StartPhase\(")', whole[start:])
    phases = {re.match(r'  StartPhase\("([^"]*)"', part)[1]: part for part in parts[1:]}
    library = library_for_rocksdb(prefix, work)
    environment = environment_of(work, [library, os.path.join(prefix, "lib")])

    names = set(phases) | set(PARTS_OF_PHASES)

    def phase_without(left_out, phase):
        text = phases[phase]
        for part, (its_phase, begin, end) in PARTS_OF_PHASES.items():
            if its_phase == phase and part in left_out:
                text = text[:text.index(begin)] + text[text.index(end):]
        return text

    def program_without(left_out, name):
        path = os.path.join(work, name)
        left = [phase_without(left_out, phase) for phase in phases if phase not in left_out]
        with open(path + ".c", "w", encoding="utf-8") as out:
            out.write(whole[:start] + parts[0] + "".join(left))
        run(["gcc", "-w", "-DOS_LINUX", "-DROCKSDB_PLATFORM_POSIX", "-I" + os.path.join(source, "include"), "-I" + source,
             path + ".c", "-o", path, "-L" + library, "-lrocksdb", "-lpthread"])
        return outcome([path], environment, work, SECONDS_FOR_A_TEST)

    _, listed = read_list("rocksdb_c")
    ok, output = program_without(set(listed), "rocksdb_c_test")
    if not ok:  # the phases after the one that failed have not run
        begun = re.findall(r"=== Test (.*)", output)
        return set(begun[:-1]), {name: output for name in names if name not in begun[:-1]}
    passed, failures = names - set(listed), {}
    for name in listed:
        ok, output = program_without(set(listed) - {name}, "rocksdb_c_test_with_one")
        if ok:
            passed.add(name)
        else:
            failures[name] = output
    return passed, failures


def rocksdb_cpp(prefix, work):
    """RocksDB's example programs: those in C++ compiled with the names of include/cambium/rocksdb_names, the one in C
    with RocksDB's own header, and linked with the library that has its C interface. Each asserts what it expects. Their databases have fixed paths, which begin with /tmp/: each program gets a directory of its own in the
    place of /tmp."""
    need("g++")
    need("pkg-config")
    source = rocksdb_source(work)
    examples = os.path.join(source, "examples")
    build = os.path.join(work, "rocksdb_examples")
    os.makedirs(build, exist_ok=True)
    library = library_for_rocksdb(prefix, work)
    environment = environment_of(work, [library, os.path.join(prefix, "lib")])
    configuration = dict(os.environ, PKG_CONFIG_PATH=os.path.join(prefix, "lib", "pkgconfig"))
    flags = run(["pkg-config", "--cflags", "--libs", "cambium-static"], env=configuration).split()
    names = run(["pkg-config", "--variable=rocksdb_names", "cambium-static"], env=configuration).strip()

    def compiled_and_run(file):
        name = os.path.splitext(file)[0]
        program, scratch = os.path.join(build, name), os.path.join(environment["TMPDIR"], name)
        os.makedirs(scratch)
        with open(os.path.join(examples, file), encoding="utf-8") as text, \
                open(os.path.join(build, file), "w", encoding="utf-8") as out:
            out.write(text.read().replace("/tmp/", scratch + "/"))
        if file.endswith(".c"):
            command = ["gcc", "-I" + os.path.join(source, "include"), file, "-L" + library, "-lrocksdb"]
        else:
            command = ["g++", "-std=c++20", "-I" + names, file] + flags
        # The assertions are the test.
        ok, output = outcome(command + ["-w", "-UNDEBUG", "-DOS_LINUX", "-o", program], environment, build,
                             SECONDS_FOR_A_COMPILER)
        return outcome([program], environment, scratch, SECONDS_FOR_A_TEST) if ok else (ok, output)

    files = sorted(file for file in os.listdir(examples) if file.endswith((".c", ".cc")))
    return run_each({os.path.splitext(file)[0]: lambda f=file: compiled_and_run(f) for file in files})


def leveldb_c(prefix, work):
    """LevelDB's test of its C interface, with renamed calls."""
    need("gcc")
    with open(os.path.join(crate_of(work, "leveldb-sys", LEVELDB_SYS), "deps/leveldb-1.22/db/c_test.c"),
              encoding="utf-8") as text:
        source = text.read()
    # The version of this library is its own.
    source = re.sub(r".*_version\(\) >= 1.*\n", "", source)
    source = source.replace('"leveldb/c.h"', "<cambium/c.h>").replace("leveldb_", "cambium_")
    path = os.path.join(work, "leveldb_c_test")
    with open(path + ".c", "w", encoding="utf-8") as out:
        out.write(source)
    libraries = os.path.join(prefix, "lib")
    run(["gcc", "-w", "-I" + os.path.join(prefix, "include"), path + ".c", "-o", path, "-L" + libraries, "-lcambium"])
    environment = environment_of(work, [libraries])
    return run_each({"c_test": lambda: outcome([path], environment, work, SECONDS_FOR_A_TEST)})


def plyvel(prefix, work):
    """The tests of plyvel, a binding of LevelDB for Python, over this project's binding for Python."""
    need("gcc")
    environment = environment_of(work, [os.path.join(prefix, "lib")])
    environment["CAMBIUM_PREFIX"] = prefix
    python = os.path.join(work, "venv", "bin", "python")
    suite, site = os.path.join(work, "plyvel"), os.path.join(work, "site")
    try:
        if not os.path.exists(python):
            run([sys.executable, "-m", "venv", os.path.join(work, "venv")])
        run([python, "-m", "pip", "install", "--quiet", "pytest", "setuptools", "wheel"])
        shutil.rmtree(suite, ignore_errors=True)
        run([python, "-m", "pip", "download", "--quiet", "--no-deps", "--no-build-isolation", "--no-binary", ":all:",
             "--dest", suite, f"plyvel=={PLYVEL}"])
    except RuntimeError as error:
        raise Missing(f"plyvel {PLYVEL} or pytest could not be fetched: {error}") from error
    run(["tar", "-xzf", f"plyvel-{PLYVEL}.tar.gz", "--strip-components=2", f"plyvel-{PLYVEL}/test/test_plyvel.py"],
        cwd=suite)
    shutil.rmtree(site, ignore_errors=True)
    shutil.rmtree(os.path.join(work, "python"), ignore_errors=True)
    shutil.copytree(os.path.join(HERE, "../../bindings/python"), os.path.join(work, "python"),
                    ignore=shutil.ignore_patterns(".build"))
    run([python, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps", "--target", site,
         os.path.join(work, "python")], env=environment)
    with open(os.path.join(suite, "plyvel.py"), "w", encoding="utf-8") as out:
        out.write("from cambium.plyvel import *\nfrom cambium.plyvel import __leveldb_version__, __version__\n")
    environment["PYTHONPATH"] = site + ":" + suite
    _, output = outcome([python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rA", "--tb=line", "test_plyvel.py"],
                        environment, suite, SECONDS_FOR_A_TEST)
    passed = set(re.findall(r"(?m)^PASSED test_plyvel.py::(\S+)", output))
    failed = {name: why for name, why in re.findall(r"(?m)^(?:FAILED|ERROR) test_plyvel.py::(\S+)(.*)", output)}
    return passed, failed


SUITES = {
    "leveldb_c": leveldb_c,
    "plyvel": plyvel,
    "rocksdb_c": rocksdb_c,
    "rocksdb_cpp": rocksdb_cpp,
    "grocksdb": grocksdb,
    "rust_rocksdb": rust_rocksdb,
}


def read_list(suite):
    """Returns the number of tests, and the listed ones with their reasons."""
    listed, count = {}, None
    with open(os.path.join(HERE, suite + ".listed"), encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("# tests: "):
                count = int(line[len("# tests: "):])
            elif line.strip() and not line.startswith("#"):
                name, _, reason = line.strip().partition("|")
                listed[name.strip()] = reason.strip()
    return count, listed


def compare(suite, passed, failed):
    """Prints the result of a suite. Returns the number of wrong tests."""
    count, listed = read_list(suite)
    wrong = 0
    for name, output in sorted(failed.items()):
        if name not in listed:
            wrong += 1
            print(f"  {name} FAILED\n    " + "\n    ".join(output.strip().splitlines()[-12:]))
    for name in sorted(set(listed) & passed):
        wrong += 1
        print(f"  {name} passes, but it is listed")
    for name in sorted(set(listed) - passed - set(failed)):
        wrong += 1
        print(f"  {name} is listed, but there is no such test")
    if count != len(passed) + len(failed):
        wrong += 1
        print(f"  there are {len(passed) + len(failed)} tests, but {suite}.listed says {count}")
    print(f"{suite}: {len(passed)} of {len(passed) + len(failed)} pass, {len(listed)} are listed, {wrong} are wrong")
    return wrong


def main(prefix, work, *names):
    os.makedirs(work, exist_ok=True)
    passes = failures = 0
    for suite in names or SUITES:
        print(f"\n==== {suite}", flush=True)
        try:
            passed, failed = SUITES[suite](prefix, work)
        except Missing as why:
            print(f"SKIPPED: {suite}: {why}")
            continue
        except Exception as error:  # the other suites run all the same
            print(f"{suite}: {error}")
            failures += 1
            continue
        failures += compare(suite, passed, failed)
        passes += len(passed)
    print(f"\n{passes} passed, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    if len(sys.argv) < 3 or not set(sys.argv[3:]) <= set(SUITES):
        sys.exit(__doc__)
    sys.exit(main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), *sys.argv[3:]))
