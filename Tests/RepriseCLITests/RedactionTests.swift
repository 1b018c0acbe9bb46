import Foundation
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseCLI

/// What is printed of URLs: never a password, and a query only where the URL is what was asked for.
@Suite(.limit(minutes: 2)) struct RedactionTests {
    @Test(
        arguments: [
            ("http://example.com/a.mp4", "http://example.com/a.mp4", "a.mp4"),
            ("http://user:pw@example.com/a.mp4?token=s3cret#x", "http://example.com/a.mp4?…", "a.mp4"),
            ("http://user:p@w@example.com", "http://example.com", "example.com"),
            ("user:pw@example.com/a", "example.com/a", "a"),
            ("//user:pw@example.com/a", "//example.com/a", "a"),
            ("http:/user:pw@example.com/a", "http:/example.com/a", "a"),
            ("http:user:pw@example.com/a", "example.com/a", "a"),
            ("@partition http://user:pw@example.com/a", "@partition http://example.com/a", "a"),
            ("http://example.com/a@b/c?x=@", "http://example.com/a@b/c?…", "c"),
            ("http://example.com?token=s3cret", "http://example.com?…", "example.com"),
            ("http://example.com/a#s3cret", "http://example.com/a", "a"),
            ("no-url", "no-url", "no-url"), ("", "", ""),
        ])
    func texts(text: String, redacted: String, name: String) {
        #expect(URLText.redacted(text) == redacted)
        #expect(URLText.name(of: text) == name)
    }

    @Test func messagesHoldNeitherPasswordsNorQueries() async throws {
        try await Site.run { site async throws in
            site.publish("/a.mp4", length: 1000)
            let output = site.directory.path(of: "out")
            for base in ["http://user:pa55word@127.0.0.1:1/a.mp4", "http://127.0.0.1:1/a.mp4", site.origin.url("/404")]
            {
                let url = base + "?token=s3cret"
                for command in [
                    ["show", url], ["remove", url], ["unpin", url], ["export", url, "-o", output], ["fetch", url],
                    ["fetch", url, "-o", output], ["pin", url], ["download", url], ["fetch", "--json", url],
                ] {
                    let outcome = try await Command.run(command[0], site.directory, Array(command.dropFirst()))
                    let text = outcome.output + outcome.errors
                    #expect(!text.contains("pa55word"), "\(command): \(text)")
                    // A line of JSON has the URL that it belongs to.
                    #expect(!outcome.errors.contains("s3cret"), "\(command): \(text)")
                    if !command.contains("--json") { #expect(!text.contains("s3cret"), "\(command): \(text)") }
                }
            }
        }
    }

    @Test func listsAndJSONHaveTheWholeURL() async throws {
        try await Site.run { site async throws in
            site.publish("/a.mp4", length: 1000)
            let url = site.origin.url("/a.mp4") + "?token=1"
            let fetch = try await Command.run("fetch", site.directory, ["--json", url])
            #expect(fetch.output.contains("\"url\":\"\(url)\""), "\(fetch.output)")
            for command in [["list"], ["list", "--json"], ["show", url], ["show", "--json", url]] {
                let outcome = try await Command.run(command[0], site.directory, Array(command.dropFirst()))
                #expect(outcome.output.contains(url), "\(command): \(outcome.output)")
            }
        }
    }
}
