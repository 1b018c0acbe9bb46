import ArgumentParser
import Reprise

/// `reprise title`.
struct TitleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "title",
        abstract: "Give a file or a stream a name and a tag.",
        discussion: """
            A name is for people; a tag groups titles, such as an album or the person who plays them, for list --tag and \
            prune --tag. Both stay until the title is removed, also while nothing of it is stored.

            Examples:
              reprise title https://example.com/show/master.m3u8 --name "Pilot" --tag show
              reprise title https://example.com/film.mp4 --clear
            """)

    @Argument(help: "URL of the file, or of the stream's outermost playlist.")
    var url: String
    @Option(help: "The name; an earlier one is replaced.")
    var name: String?
    @Option(help: "The tag; an earlier one is replaced.")
    var tag: String?
    @Flag(help: "Remove the name and the tag.")
    var clear = false
    @Flag(help: "The outcome as one JSON object.")
    var json = false
    @OptionGroup var names: NameOptions
    @OptionGroup var cache: CacheOptions

    func validate() throws {
        if name == "" { throw ValidationError("--name is empty; to remove it: --clear.") }
        if tag == "" { throw ValidationError("--tag is empty; to remove it: --clear.") }
        for (option, text) in [("--name", name), ("--tag", tag)] {
            // What stands in an argument for bytes that are no UTF-8.
            guard text?.unicodeScalars.contains("\u{FFFD}") == true else { continue }
            throw ValidationError("\(option) is no UTF-8: it has bytes for which U+FFFD stands.")
        }
        if clear != (name == nil && tag == nil) {
            throw ValidationError("Give --name, --tag or both, or else --clear.")
        }
    }

    func run() async throws {
        try await Failure.reporting {
            let outcome = try await cache.perform(
                TitleOperation(
                    url: try await cache.behindOwn(url), title: name, tag: tag, clear: clear,
                    names: try names.names(cache)))
            if json { return try Terminal.printJSON(outcome) }
            let words = [outcome.title, outcome.tag.map { "#\($0)" }].compactMap { $0 }.joined(separator: "  ")
            try Terminal.print(
                "\(outcome.url)\(words.isEmpty ? " has no name and no tag now." : "  \(words.printable)")")
        }
    }
}
