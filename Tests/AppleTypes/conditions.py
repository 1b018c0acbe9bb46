"""Resolves the `#if`s of Swift sources for one of Apple's platforms. Lines keep their numbers."""
import re

# Modules that exist on each of Apple's platforms, apart from AppKit and UIKit, and modules that exist on none of them.
EVERYWHERE = {"AVFoundation", "AVKit", "CoreMedia", "Darwin", "Foundation", "ObjectiveC", "Security", "SwiftUI"}
NOWHERE = {"Android", "FoundationNetworking", "Glibc", "Musl", "WinSDK"}


class Conditions:
    """The conditions that hold on a platform, with a compiler and with definitions (`-D`)."""

    def __init__(self, platform, compiler, definitions):
        self.platform, self.compiler, self.definitions = platform, compiler, definitions
        here, absent = ("AppKit", "UIKit") if platform == "macOS" else ("UIKit", "AppKit")
        self.modules = {name: True for name in EVERYWHERE | {here}} | {name: False for name in NOWHERE | {absent}}

    def resolve(self, text):
        """The text, in which inactive lines and the directives themselves are empty."""
        lines, active = [], True
        # For each open `#if`: whether the lines around it are active, and whether one of its branches was taken.
        stack = []
        for line in text.split("\n"):
            directive = re.match(r"\s*#(if|elseif|else|endif)\b(.*)", line)
            if not directive:
                lines.append(line if active else "")
                continue
            word, condition = directive.groups()
            if word == "if":
                stack.append([active, False])
            around, taken = stack[-1]
            if word == "endif":
                stack.pop()
                active = around
            else:
                active = around and not taken and (word == "else" or self.holds(condition))
                stack[-1][1] = taken or active
            lines.append("")
        return "\n".join(lines)

    def holds(self, condition):
        """Whether a condition is true; raises ValueError if it cannot be decided."""
        expression = re.sub(r"(\w+)(?:\(\s*([^()]*?)\s*\))?", self.value, condition.split("//")[0])
        for operator, word in (("&&", " and "), ("||", " or "), ("!", " not ")):
            expression = expression.replace(operator, word)
        return eval(expression.strip(), {"__builtins__": {}})

    def value(self, term):
        """`True` or `False`, as text, for a name or a call."""
        name, argument = term.groups()
        if argument is None:
            return str(name == "true" or name in self.definitions)
        if name == "os":
            return str(argument == self.platform)
        if name == "targetEnvironment":
            return "False"
        if name == "canImport" and argument in self.modules:
            return str(self.modules[argument])
        if name == "compiler" and argument.startswith(">="):
            return str(self.compiler >= tuple(map(int, argument[2:].split("."))))
        raise ValueError(f"{__file__} does not know the condition {term[0]}.")
