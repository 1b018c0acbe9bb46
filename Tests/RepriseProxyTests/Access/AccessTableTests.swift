import HTTPTypes
import NIOCore
import TestLimits
import Testing

@testable import RepriseProxy

/// Who sent a request, as the tokens of a server say.
@Suite(.limit(minutes: 1)) struct AccessTableTests {
    private static let tokens = [
        AccessToken("first-token", name: "anna", mayControl: false),
        AccessToken("other-token", name: "berta", mayControl: true), AccessToken("single", name: nil, mayControl: true),
    ]

    private static func head(_ target: String, _ fields: [String]) throws -> ClientHead {
        var parser = RequestParser()
        let lines = ["GET \(target) HTTP/1.1", "Host: localhost"] + fields
        parser.append(ByteBuffer(string: lines.joined(separator: "\r\n") + "\r\n\r\n"))
        return try #require(try parser.next())
    }

    @Test(
        "the path counts first, then Authorization; of a browser, the path alone",
        arguments: [
            ("/first-token/https/a/b", [], "anna", true, true), ("/first-token", [], "anna", true, true),
            ("/single/https/a/b", [], nil, true, true),
            ("/https/a/b", ["Authorization: Bearer other-token"], "berta", false, true),
            // anna:first-token, berta:first-token, anna:single
            ("/https/a/b", ["authorization: basic YW5uYTpmaXJzdC10b2tlbg=="], "anna", false, true),
            ("/https/a/b", ["Authorization: Basic YmVydGE6Zmlyc3QtdG9rZW4="], nil, false, false),
            ("/https/a/b", ["Authorization: Basic YW5uYTpzaW5nbGU="], nil, false, false),
            ("/https/a/b", ["Authorization: Bearer single"], nil, false, true),
            ("/other-token/https/a/b", ["Authorization: Bearer first-token"], "berta", true, true),
            ("/https/a/b", ["Authorization: Bearer first-token", "Origin: http://a"], nil, false, false),
            ("/https/a/b", ["Authorization: Bearer first-token", "Sec-Fetch-Site: none"], nil, false, false),
            ("/https/a/b", ["Authorization: Bearer first-token", "User-Agent: Mozilla/5.0"], nil, false, false),
            ("/first-token/https/a/b", ["Sec-Fetch-Site: none"], "anna", true, true),
            ("/https/a/b", ["Authorization: Bearer first-token", "Authorization: Bearer x"], nil, false, false),
            ("/first-toke/https/a/b", [], nil, false, false), ("/first-tokem/https/a/b", [], nil, false, false),
            ("/https/first-token/b", [], nil, false, false), ("/", [], nil, false, false),
            ("/https/a/b", ["X-Authorization: Bearer first-token"], nil, false, false),
        ] as [(String, [String], String?, Bool, Bool)])
    func senders(target: String, fields: [String], name: String?, isInPath: Bool, isKnown: Bool) throws {
        var head = try Self.head(target, fields)
        let isFound = AccessTable(Self.tokens).identify(&head)
        #expect(isFound == isKnown && (head.sender != nil) == isKnown)
        #expect(head.sender?.holder.name == name)
        #expect(head.pathPrefix == (isInPath ? "/\(target.split(separator: "/")[0])" : ""))
    }

    @Test("those who control a server have a token for players, which only plays, and counts as theirs")
    func players() throws {
        let table = AccessTable(Self.tokens)
        let token = try #require(Self.tokens[1].forPlayers)
        #expect(Self.tokens[0].forPlayers == nil && token.text != Self.tokens[2].forPlayers?.text)
        #expect(token.forPlayers == nil && !token.text.contains("other"))
        var head = try Self.head("/\(token.text)/https/a/b", [])
        #expect(table.identify(&head))
        let holder = try #require(head.sender?.holder)
        #expect(holder.name == "berta" && !holder.token.mayControl && holder.token.mayBrowse)
        #expect(table.names == ["anna", "berta"])
        #expect(table.texts.isShown(in: "/\(token.text)/https/a/b"))
        var stranger = try Self.head("/\(token.text)/https/a/b", [])
        #expect(!AccessTable([Self.tokens[0]]).identify(&stranger))
    }

    @Test("the token for players has its places in common with the token that it comes from")
    func places() throws {
        let token = AccessToken("control-token", name: "berta", mayControl: true, mostAnswers: 1)
        let table = AccessTable([token])
        let players = try #require(token.forPlayers)
        var (first, second) = (try Self.head("/control-token/https/a/b", []), try Self.head("/\(players.text)/a", []))
        #expect(table.identify(&first) && table.identify(&second))
        guard case .taken(let place)? = first.sender?.holder.takePlace() else {
            Issue.record("No place was free.")
            return
        }
        guard case .refused? = second.sender?.holder.takePlace() else {
            Issue.record("There were two places.")
            return
        }
        place.giveBack()
    }

    @Test(
        "only an Authorization that is meant for the server is taken away",
        arguments: [
            ("/https/a/b", "Bearer first-token", false), ("/first-token/https/a/b", "Bearer theirs", true),
            ("/first-token/https/a/b", "Bearer other-token", false),
        ]) func origins(target: String, value: String, isKept: Bool) throws
    {
        var head = try Self.head(target, ["Authorization: \(value)", "X-A: b"])
        let isKnown = AccessTable(Self.tokens).identify(&head)
        #expect(isKnown)
        #expect(head.originFields[.authorization] == (isKept ? value : nil))
        #expect(head.value("x-a") == "b")
    }

    @Test func anAppsOwnProxyLeavesAuthorizationToTheServers() throws {
        let table = AccessTable(Self.tokens, takesAuthorization: false)
        var head = try Self.head("/https/a/b", ["Authorization: Bearer first-token"])
        let isKnown = table.identify(&head)
        #expect(!isKnown && head.value("authorization") == "Bearer first-token" && table.challenges.isEmpty)
    }

    @Test func placesAreThoseOfAllTablesTogether() throws {
        func table(_ most: Int?, after former: AccessTable? = nil) -> AccessTable {
            AccessTable([AccessToken("a-token", name: "anna", mayControl: false, mostAnswers: most)], after: former)
        }
        func holder(_ table: AccessTable) throws -> TokenHolder {
            var head = try Self.head("/a-token/https/a/b", [])
            _ = table.identify(&head)
            return try #require(head.sender).holder
        }
        let first = table(2)
        let holders = [try holder(first), try holder(first)]
        var places: [AnswerPlace] = []
        func take(_ holder: TokenHolder) -> Bool {
            switch holder.takePlace() {
            case .taken(let place):
                places.append(place)
                return true
            case .free: return true
            case .refused: return false
            }
        }
        let taken = holders.map(take)
        #expect(taken == [true, true])
        let more = try [take(holder(first)), take(holder(table(2, after: first)))]
        #expect(more == [false, false])
        // Only the first time counts.
        for _ in 0..<2 { places[0].giveBack() }
        let narrow = table(1, after: first)
        let afterwards = try [take(holder(narrow)), take(holder(first)), take(holder(first))]
        #expect(afterwards == [false, true, false])
        let unlimited = try take(holder(table(nil, after: first)))
        #expect(unlimited)
        places.removeAll()
        let again = try [take(holder(narrow)), take(holder(narrow))]
        #expect(again == [true, false], "places that are no longer held are free")
    }
}
