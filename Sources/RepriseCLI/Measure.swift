import ArgumentParser

/// A value with a unit on the command line.
protocol Measure: ExpressibleByArgument {
    /// What follows the name of an option to say which texts it takes: "takes a size with its unit, …"
    static var rule: String { get }
}

extension Measure {
    /// The value that `text` says, for an option; throws what the option takes.
    @Sendable static func read(_ text: String) throws(ValidationError) -> Self {
        guard let value = Self(argument: text) else { throw ValidationError("it \(rule)") }
        return value
    }
}
