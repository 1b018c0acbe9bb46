import TestLimits
import Testing

@testable import RepriseCLI

/// Lines of a configuration file, one by one.
@Suite(.limit(minutes: 1)) struct ConfigurationLineTests {
    @Test(arguments: ["", "  ", "\t", "# port = 1", "  # comment", "#", "#=", "###"])
    func nothing(line: String) throws {
        #expect(try ConfigurationLine(line[...]) == .blank)
    }

    @Test(
        arguments: [
            ("port=8090", "port", "8090"), ("port = 8090", "port", "8090"), ("\t port\t=\t8090 \t", "port", "8090"),
            ("port = 8090 # the usual one", "port", "8090"), ("port = 8090\t# the usual one", "port", "8090"),
            ("token = a#b", "token", "a#b"), ("token = a#b #c", "token", "a#b"), ("token =", "token", ""),
            ("token = # none", "token", ""), ("token =#", "token", "#"), ("a = b = c", "a", "b = c"),
            ("a = \"b\"", "a", "b"), ("a = \"\"", "a", ""), ("a = \"  b # c \" # d", "a", "  b # c "),
            ("a = \"b\\\"c\\\\d\"", "a", "b\"c\\d"), ("a = b\"c\"", "a", "b\"c\""), ("a = 'b'", "a", "'b'"),
            ("a = C:\\b", "a", "C:\\b"), ("a = é", "a", "é"), ("shared", "shared", nil),
            ("shared # yes", "shared", nil), ("--port = 1", "--port", "1"), ("cache_dir = x", "cache_dir", "x"),
        ] as [(String, String, String?)])
    func settings(line: String, name: String, value: String?) throws {
        #expect(try ConfigurationLine(line[...]) == .setting(name: name, value: value))
    }

    @Test(
        arguments: [
            ("[host a.example]", "a.example"), (" [ host\ta.example ] # comment", "a.example"), ("[host ::1]", "::1"),
            ("[host]", ""),
        ])
    func sections(line: String, name: String) throws {
        #expect(try ConfigurationLine(line[...]) == .section(kind: "host", name: name))
    }

    @Test(
        arguments: [
            "= 1", "port 8090", "port: 8090", "s3cret!", "[host a.example", "[]", "[host a b]", "[host a] x = 1",
            "a = \"b", "a = \"b\" c", "a = \"b\\n\"", "a = \"b\\", "a = b\u{0}", "a\u{1B} = b", "a = b\u{85}", "a#b",
        ])
    func faults(line: String) {
        #expect(throws: ConfigurationLine.Fault.self) { try ConfigurationLine(line[...]) }
    }

    @Test("What is wrong is told without showing the line, which may be a secret")
    func faultsShowNothing() {
        for line in [
            "s3cret!", "token s3cret", "token = \"s3cret", "token = \"s3cret\" s3cret", "[s3cret", "s3cret\u{0}",
        ] {
            do {
                _ = try ConfigurationLine(line[...])
                Issue.record("\(line) is taken")
            } catch { #expect(!error.message.contains("s3cret")) }
        }
    }

    @Test(arguments: ["a", "a b", "", " a", "a ", "a #b", "#a", "a#b", "\"a\"", "a\\b", "a\"b", "\"", "\\", "a\t# b"])
    func aWrittenValueIsReadAgain(value: String) throws {
        let line = "name = \(ConfigurationLine.written(value))  # comment"
        #expect(try ConfigurationLine(line[...]) == .setting(name: "name", value: value))
    }
}
