import HTTPTypes
import Reprise
import TestLimits
import Testing

@testable import RepriseHTTPClient

/// The addresses of parents, and which of them is asked for a file.
@Suite(.limit(minutes: 1)) struct ParentTests {
    @Test("an address is a server's, with one token at most; what is none says why, without the token")
    func addresses() throws {
        let url = try ResourceURL("https://cdn.example:8443/a/b%20c.mp4?sig=x/y")
        for (text, asked) in [
            ("http://10.0.0.5:8090", "http://10.0.0.5:8090/"), ("http://10.0.0.5:8090/", "http://10.0.0.5:8090/"),
            ("https://n1.example/t0ken", "https://n1.example/t0ken/"),
            ("https://[2001:db8::7]/t0ken", "https://[2001:db8::7]/t0ken/"),
        ] {
            let parent = try Parent(text)
            let request = try parent.request(for: OriginRequest(url: url), from: "edge", via: "1.1 edge-1")
            #expect(request.url.description == asked + "https/cdn.example:8443/a/b%20c.mp4?sig=x/y")
            #expect(!parent.address.contains("t0ken"))
        }
        for text in [
            "", "n1:8090", "ftp://n1", "http://n1/a/b", "http://n1/?t0ken", "http://n1//", "http://u:t0ken@n1",
            "http://n1/t0ken#x", "http://n1#t0ken", "http://n1/t0ken?", "http://n1?t0ken",
        ] {
            let error = #expect(throws: RepriseError.self, "\(text)") { try Parent(text) }
            #expect(error?.message.contains("t0ken") == false)
        }
    }

    @Test(
        "what is shown of an address has neither a token nor a log-in",
        arguments: [
            ("http://n1/t0ken", "http://n1/<hidden>"), ("n1/t0ken", "n1/<hidden>"), ("http://n1", "http://n1"),
            ("http://n1:80/", "http://n1:80/"), ("http://u:t0ken@n1:80", "http://<hidden>@n1:80"),
            ("http://t0ken@n1/", "http://<hidden>@n1/"), ("u:t0ken@n1", "<hidden>@n1"),
            ("http://u:t0/ken@n1/t0ken", "http://<hidden>"), ("http://n1/t0@ken", "http://<hidden>"),
            ("u:t0://ken@n1", "<hidden>"), ("http://u:t0://ken@n1", "http://<hidden>"),
            ("http://n1?t0ken", "http://n1?<hidden>"), ("http://n1#t0ken", "http://n1#<hidden>"), ("none", "none"),
            ("", ""),
        ])
    func hiding(text: String, shown: String) { #expect(Parent.withoutSecrets(text) == shown) }

    @Test("a request has the servers of a client's way, or the edge's own name") func via() throws {
        let parent = try Parent("http://n1")
        var request = OriginRequest(url: try ResourceURL("http://a.example/b"))
        #expect(try parent.request(for: request, from: "edge", via: "1.1 x").fields[EdgeFields.via] == "1.1 x")
        request.fields[EdgeFields.via] = "1.1 phone, 1.1 y"
        request.context.authenticate = { $0 }
        let own = try parent.request(for: request, from: "edge", via: "1.1 x")
        #expect(own.context.authenticate == nil, "a signature is for the origin")
        #expect(own.fields[EdgeFields.via] == "1.1 phone, 1.1 y" && own.fields[EdgeFields.edge] == "edge")
    }

    @Test("files spread evenly; one parent less moves only its own files, and a query moves none") func spread() throws
    {
        let parents = try (1...4).map { try Parent("http://10.0.0.\($0):8090") }
        func owner(_ url: String, among parents: [Parent]) throws -> Parent? {
            let url = try ResourceURL(url)
            return parents.max { $0.weight(for: url) < $1.weight(for: url) }
        }
        var counts: [Parent: Int] = [:]
        for number in 0..<4000 {
            let url = "https://a.example/\(number).mp4"
            let first = try #require(try owner(url, among: parents))
            counts[first, default: 0] += 1
            #expect(try owner(url + "?sig=\(number)", among: parents.reversed()) == first)
            let left = try owner(url, among: Array(parents.dropLast()))
            #expect(first == parents[3] || left == first)
        }
        // 1,000 each; five standard deviations are 137.
        #expect(parents.allSatisfy { (850...1150).contains(counts[$0] ?? 0) }, "\(counts.values)")
    }
}
