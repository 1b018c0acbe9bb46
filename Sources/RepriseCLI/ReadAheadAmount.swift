import ArgumentParser
import Reprise

/// How far ahead of players files are fetched, as people write it: `none`, `120s`, `32MB`, `all`.
struct ReadAheadAmount: ExpressibleByArgument, Sendable {
    let readAhead: ReadAhead

    init(_ readAhead: ReadAhead) { self.readAhead = readAhead }

    /// Times have the units of ``TimeSpan``, so bytes need a unit with a B.
    init?(argument: String) {
        if argument == "none" {
            readAhead = .asRequested
        } else if argument == "all" {
            readAhead = .toEnd
        } else if let time = TimeSpan(argument: argument) {
            readAhead = .seconds(time.duration / .seconds(1))
        } else if argument.lowercased().hasSuffix("b"), let count = ByteCount(argument: argument) {
            readAhead = .bytes(count.bytes)
        } else {
            return nil
        }
    }

    var defaultValueDescription: String {
        switch readAhead {
        case .asRequested: "none"
        case .bytes(let count): ByteCount(count).defaultValueDescription
        case .seconds(let seconds): TimeSpan(.seconds(seconds)).defaultValueDescription
        case .toEnd: "all"
        }
    }
}
