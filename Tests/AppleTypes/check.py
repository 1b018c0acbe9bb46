"""Type-checks the package for Apple's platforms on Linux. Run by scripts/check-apple-types, which describes it.

The compiler of Linux accepts Apple's triples, but has no modules for them:
- Modules of the toolchain and of other packages are copies of those for Linux with another triple inside. They have the
  availability of the real ones, so the compiler compares every use with the deployment target.
- Apple's frameworks are the interfaces in Frameworks, which declare the parts that this package uses.
- C modules are imported for Linux.
"""
import argparse
import concurrent.futures
import graphlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

from conditions import Conditions

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "Tests/AppleTypes"
DEMO = ROOT / "Examples/RepriseDemo"
# The names of the systems in triples, and the difference between the year of a release, until 2024, and its version.
SYSTEMS = {"iOS": ("ios", 2006), "macOS": ("macosx", 2009), "tvOS": ("tvos", 2006), "visionOS": ("xros", 2022)}
# With these settings of an SDK, declarations that name iOS only are available on visionOS, too.
VISION_SETTINGS = {
    "CanonicalName": "xros26.0", "Version": "26.0", "MaximumDeploymentTarget": "99.0",
    "VersionMap": {
        "iOS_visionOS": {"13.0": "1.0", "14.0": "1.0", "15.0": "1.0", "16.0": "1.0", "17.0": "1.0", "18.0": "2.0",
                         "26.0": "26.0"},
        "visionOS_iOS": {"1.0": "17.0", "2.0": "18.0", "26.0": "26.0"}}}
# In the order of their imports. Those of the first list are the same on all platforms.
COMMON_FRAMEWORKS = ["Darwin", "AppleFoundation", "CSpawn"]
FRAMEWORKS = ["ObjectiveC", "Security", "CoreMedia", "AVFoundation", "UIKit", "AppKit", "SwiftUI", "AVKit"]
# Modules of the toolchain that nothing here imports.
UNUSED = {"Cxx", "CxxStdlib", "Distributed", "FoundationXML", "RegexBuilder", "Runtime", "XCTest", "_Differentiation"}


def fail(message):
    sys.exit(f"check-apple-types: {message}")


def manifest(folder, **variables):
    """A manifest as JSON, without the stand-in for AVFoundation."""
    environment = {**os.environ, "REPRISE_STRICT": "1", **variables}
    environment.pop("REPRISE_AVFOUNDATION_STAND_IN", None)
    command = ["swift", "package", "dump-package"]
    return json.loads(subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.PIPE).stdout)


def floors_of(package):
    """The versions under `platforms:`."""
    names = {name.lower(): name for name in SYSTEMS}
    return {names[entry["platformName"]]: entry["version"] for entry in package["platforms"]}


def year(platform, version):
    """The year of a release."""
    major = int(version.split(".")[0])
    return major + (1999 if major >= 26 else SYSTEMS[platform][1])


class Module:
    """Swift files that are compiled together."""

    def __init__(self, name, files, floors, dependencies=(), options=(), is_snippet=False):
        self.name, self.files, self.floors, self.dependencies = name, files, floors, dependencies
        self.options, self.is_snippet = options, is_snippet

    @staticmethod
    def of_target(target, folder, floors, build):
        """The module of a manifest's target; one of C has no files."""
        usual = "Tests" if target["type"] == "test" else "Sources"
        path = folder / target.get("path", f"{usual}/{target['name']}")
        excluded = [path / name for name in target["exclude"]]
        files = [
            file for file in sorted(path.rglob("*.swift")) if not any(file.is_relative_to(other) for other in excluded)]
        if any("embedInCode" in resource["rule"] for resource in target["resources"]):
            files.append(build / f"debug/{target['name']}.build/DerivedSources/embedded_resources.swift")
        dependencies = [next(iter(dependency.values()))[0] for dependency in target["dependencies"]]
        options = ["-package-name", "reprise"]
        for setting in target["settings"]:
            (kind, value), = setting["kind"].items()
            if kind == "enableUpcomingFeature":
                options += ["-enable-upcoming-feature", value["_0"]]
            elif kind == "treatAllWarnings":
                options += ["-warnings-as-errors"]
            elif setting["tool"] == "swift":
                fail(f"{target['name']} has the unknown setting {kind}.")
        return Module(target["name"], files, floors, dependencies, options)


class Package:
    """What is compiled for each platform."""

    def __init__(self, build):
        self.build = build
        self.full, self.xcode = manifest(ROOT), manifest(ROOT, REPRISE_XCODE="1")
        self.demo = manifest(DEMO)
        self.floors, self.demo_floors = floors_of(self.full), floors_of(self.demo)
        self.snippets = sorted((ROOT / "Snippets").glob("*.swift"))
        self.own = {target["name"] for package in (self.full, self.demo) for target in package["targets"]}
        self.own |= {file.stem for file in self.snippets} | {"AVFoundation"}

    def modules(self, platform):
        """The modules for a platform, each after those on which it depends."""
        targets = self.xcode["targets"]
        if platform == "macOS":
            tests = {target["name"] for target in targets}
            targets = [
                target for target in self.full["targets"] if target["type"] != "test" or target["name"] in tests]
        modules = [Module.of_target(target, ROOT, self.floors, self.build) for target in targets]
        modules += [Module.of_target(target, DEMO, self.demo_floors, self.build) for target in self.demo["targets"]]
        names = [target["name"] for target in targets if target["type"] != "test"]
        for file in self.snippets:
            # The others are compiled for Linux, and have no lines of their own for Apple's platforms.
            if "#if" in file.read_text():
                modules.append(Module(file.stem, [file], self.floors, names, is_snippet=True))
        graph = {module.name: module.dependencies for module in modules}
        named = {module.name: module for module in modules if module.files}
        return [named[name] for name in graphlib.TopologicalSorter(graph).static_order() if name in named]


class Toolchain:
    def __init__(self):
        command = ["swiftc", "-print-target-info"]
        information = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
        self.version = information["compilerVersion"]
        self.numbers = tuple(map(int, re.search(r"(\d+)\.(\d+)", self.version).groups()))
        self.triple = information["target"]["triple"]
        self.resources = pathlib.Path(information["paths"]["runtimeResourcePath"])
        self.runtime = self.resources / "linux"


class Platform:
    """A platform with its modules, in a folder of its own."""

    def __init__(self, name, floor, folder, toolchain):
        self.name, self.floor, self.toolchain = name, floor, toolchain
        self.conditions = Conditions(name, toolchain.numbers, {"Proxy", "Streams", "SWIFT_PACKAGE"})
        self.target = self.target_for(floor)
        # Whether interfaces have to be compiled again.
        self.is_stale = False
        self.libraries, self.modules, self.sources = (
            folder / name / part for part in ("libraries", "modules", "sources"))
        shutil.rmtree(self.modules, ignore_errors=True)
        for made in (self.libraries, self.modules):
            made.mkdir(parents=True, exist_ok=True)
        self.options = [
            "-clang-target", toolchain.triple, "-disable-objc-interop", "-diagnostic-style", "llvm",
            "-module-cache-path", folder / "cache", "-I", self.modules, "-I", self.libraries, "-I", toolchain.resources,
            "-plugin-path", toolchain.resources / "host/plugins"]
        if name == "visionOS":
            (self.libraries / "SDKSettings.json").write_text(json.dumps(VISION_SETTINGS))
            self.options += ["-sdk", self.libraries, "-sysroot", "/"]

    def target_for(self, floor):
        return f"arm64-apple-{SYSTEMS[self.name][0]}{floor}"

    def prepare(self, build, own):
        """Makes the modules of the toolchain, of other packages, and of the frameworks."""
        toolchain = self.toolchain
        for path in toolchain.runtime.glob("*.swiftmodule"):
            module = path / f"{toolchain.triple}.swiftmodule"
            # Testing has an interface only.
            if path.stem not in UNUSED and module.exists():
                self.adopt(path.stem, module)
        for path in (build / "debug/Modules").glob("*.swiftmodule"):
            if path.stem not in own:
                self.adopt(path.stem, path)
        self.map_headers(build)
        testing = toolchain.runtime / f"Testing.swiftmodule/{toolchain.triple}.swiftinterface"
        self.build_interface("Testing", testing.read_text().replace(toolchain.triple, self.target, 1))
        for name in COMMON_FRAMEWORKS + FRAMEWORKS:
            if self.conditions.modules.get(name, True):
                head = (
                    "// swift-interface-format-version: 1.0\n"
                    f"// swift-compiler-version: {toolchain.version}\n"
                    f"// swift-module-flags: -target {self.target} -disable-objc-interop -enable-library-evolution"
                    f" -swift-version 6 -module-name {name}\n"
                    "import Swift\nimport _Concurrency\n")
                text = (HERE / f"Frameworks/{name}.swiftinterface").read_text()
                self.build_interface(name, head + self.conditions.resolve(text))

    def map_headers(self, build):
        """Tells the compiler where the C modules are: Glibc's, Darwin's additions, and those of packages."""
        header = HERE / "Frameworks/Darwin.h"
        copy = self.libraries / header.name
        if not copy.exists() or copy.read_bytes() != header.read_bytes():
            copy.write_bytes(header.read_bytes())
            self.is_stale = True
        glibc = self.toolchain.runtime / self.toolchain.triple.split("-")[0] / "SwiftGlibc.h"
        (self.libraries / "module.modulemap").write_text("".join(
            f'module {name} [system] {{ header "{path}" export * }}\n'
            for name, path in (("SwiftGlibc", glibc), ("OnlyDarwin", copy))))
        maps = [*(build / "debug").glob("*.build/module.modulemap")]
        for folder in (".", "include"):
            maps += (build / "checkouts").glob(f"*/Sources/*/{folder}/module.modulemap")
        for path in maps:
            self.options += ["-Xcc", f"-fmodule-map-file={path}"]

    def adopt(self, name, source):
        """Copies a module of Linux for this platform.

        The compiler compares nothing but the triple inside. The new one is as long, so that nothing else moves.
        """
        copy = self.libraries / f"{name}.swiftmodule"
        if not copy.exists() or copy.stat().st_mtime < source.stat().st_mtime:
            linux = self.toolchain.triple.encode()
            apple = f"arm64-apple-{SYSTEMS[self.name][0]}1.".encode().ljust(len(linux), b"0")
            copy.write_bytes(source.read_bytes().replace(linux, apple, 1))

    def build_interface(self, name, text):
        interface = self.libraries / f"{name}.swiftinterface"
        module = interface.with_suffix(".swiftmodule")
        if not self.is_stale and module.exists() and interface.exists() and interface.read_text() == text:
            return
        # Those that follow may import this one.
        self.is_stale = True
        interface.write_text(text)
        command = [
            "swiftc", "-frontend", "-compile-module-from-interface", interface, "-module-name", name, *self.options,
            "-target", self.target, "-o", module]
        if subprocess.run(command).returncode != 0:
            interface.unlink()
            fail(f"{name}.swiftinterface does not compile for {self.name}.")

    def resolve(self, module):
        """The files of a module as this platform compiles them."""
        texts = {}
        for file in module.files:
            text = self.conditions.resolve(file.read_text())
            # A module cannot add to another of the same name, so Apple's Foundation has its own.
            text = re.sub(r"(?m)^(\s*(?:@?\w+ )*import )Foundation$", r"\1AppleFoundation", text)
            text = re.sub(r"\bFoundation\.(?=[a-z])", "AppleFoundation.", text)
            # Otherwise this import would count as unused: the framework's, which exports Foundation, comes first.
            if re.search(r"(?m)^\s*public import (AVFoundation|SwiftUI)$", text):
                text = text.replace("public import AppleFoundation", "import AppleFoundation")
            texts[file.relative_to(ROOT)] = text
        return texts

    def compile(self, module, texts, has_bodies=True):
        """Compiles a module; returns the errors, with places as in the repository."""
        folder = self.sources / module.name
        shutil.rmtree(folder, ignore_errors=True)
        for name, text in texts.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        command = [
            "swiftc", "-frontend", "-emit-module", *self.options, *module.options, "-module-name", module.name,
            "-target", self.target_for(module.floors[self.name]), "-swift-version", "6", "-enable-testing",
            "-o", self.modules / f"{module.name}.swiftmodule",
            # Modules that use this one are checked even if it has errors.
            "-experimental-allow-module-with-compiler-errors", *texts]
        if not has_bodies:
            command += ["-experimental-skip-non-inlinable-function-bodies"]
        is_script = module.is_snippet and not any("@main" in text for text in texts.values())
        if not is_script and not any(name.name == "main.swift" for name in texts):
            command += ["-parse-as-library"]
        ended = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        # Errors inside of macros and of modules with errors follow from those in files.
        found = re.findall(r"(?m)^(?!/|<|macro )([^:\n]+):(\d+):(\d+): error: (.*)$", ended.stdout)
        if not found and (ended.returncode != 0 or ": error: " in ended.stdout):
            print(ended.stdout, file=sys.stderr)
            fail(f"{module.name} does not compile for {self.name}.")
        return [(file, int(line), int(column), message) for file, line, column, message in found]


class Check:
    """Compiles modules for platforms, and collects the errors."""

    def __init__(self, jobs):
        self.jobs = jobs
        # Texts that were compiled with their functions' bodies.
        self.checked = set()
        # The platforms of each error.
        self.errors = {}

    def run(self, platform, modules):
        graph = graphlib.TopologicalSorter({module.name: module.dependencies for module in modules})
        graph.prepare()
        named = {module.name: module for module in modules}
        running = {}
        used = {name for module in modules for name in module.dependencies}
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            while graph.is_active():
                for name in graph.get_ready():
                    if name in named:
                        running[pool.submit(self.compile, platform, named[name], name in used)] = name
                    else:
                        graph.done(name)
                if running:
                    ended, _ = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
                    for future in ended:
                        self.add(platform, future.result())
                        graph.done(running.pop(future))

    def compile(self, platform, module, is_used):
        """Compiles the bodies of functions once, unless they use frameworks, which differ between platforms.

        The rest is compiled for other modules only.
        """
        texts = platform.resolve(module)
        everything = "\n".join(texts.values())
        has_bodies = everything not in self.checked or bool(
            re.search(rf"(?m)^\s*(?:@?\w+ )*import ({'|'.join(FRAMEWORKS)})$", everything))
        self.checked.add(everything)
        return platform.compile(module, texts, has_bodies) if has_bodies or is_used else []

    def add(self, platform, errors):
        for file, line, column, message in errors:
            # The same declaration is too new on each platform.
            newer = re.search(rf" is only available in ({platform.name} [\d.]+) or newer", message)
            if newer:
                message = message.replace(newer[0], " is too new")
            platforms = self.errors.setdefault((file, line, column, message), [])
            name = newer[1] if newer else platform.name
            if name not in platforms:
                platforms.append(name)


def check_controls(platform):
    """Compiles files with known errors; returns what the compiler did not find, or found in addition.

    A line with an error ends with a comment that names its platforms, or `everywhere`.
    """
    differences = []
    for file in sorted((HERE / "Controls").glob("*.swift")):
        module = Module(file.stem, [file], {platform.name: platform.floor}, options=["-warnings-as-errors"])
        name = file.relative_to(ROOT)
        found = {line for _, line, _, _ in platform.compile(module, platform.resolve(module))}
        expected = set()
        for number, line in enumerate(file.read_text().splitlines(), 1):
            comment = re.search(r"// error: (.*)$", line)
            if comment and (comment[1] == "everywhere" or platform.name in comment[1].split(", ")):
                expected.add(number)
        differences += [f"{name}:{number}: no error for {platform.name}" for number in sorted(expected - found)]
        differences += [f"{name}:{number}: an error for {platform.name}" for number in sorted(found - expected)]
    return differences


def main():
    parser = argparse.ArgumentParser(prog="scripts/check-apple-types")
    parser.add_argument("--build", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--controls", action="store_true", help="only check that known errors are found")
    parser.add_argument("--platform", action="append", choices=SYSTEMS, help="one platform instead of all")
    parser.add_argument(
        "--floor", action="append", default=[], metavar="PLATFORM=VERSION", help="another floor than the manifest's")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="compilers at a time")
    arguments = parser.parse_args()
    build = ROOT / arguments.build
    if not (build / "debug/Modules/NIOCore.swiftmodule").exists():
        fail("build the tests first, for example with scripts/test.")
    package, toolchain, folder = Package(build), Toolchain(), ROOT / ".build-apple-types"
    package.floors |= dict(entry.split("=", 1) for entry in arguments.floor)
    floors = package.floors
    # The oldest first: with it the most declarations are missing.
    names = sorted(arguments.platform or SYSTEMS, key=lambda name: year(name, floors[name]))
    check, differences = Check(arguments.jobs), []
    for name in names:
        platform = Platform(name, floors[name], folder, toolchain)
        platform.prepare(build, package.own)
        differences += check_controls(platform)
        if not arguments.controls:
            modules = package.modules(name)
            check.run(platform, modules)
            print(f"check-apple-types: {name} {floors[name]}, {len(modules)} modules", flush=True)
    for (file, line, column, message), platforms in sorted(check.errors.items()):
        print(f"{file}:{line}:{column}: error: {message} ({', '.join(platforms)})", file=sys.stderr)
    for difference in differences:
        print(difference, file=sys.stderr)
    if check.errors or differences:
        fail(f"{len(check.errors)} errors, {len(differences)} unexpected results of controls")


if __name__ == "__main__":
    main()
