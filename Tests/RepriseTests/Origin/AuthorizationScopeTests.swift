import Testing

@testable import Reprise

/// Which URLs get the fields that were given for another one.
@Suite struct AuthorizationScopeTests {
    private static func covers(
        _ given: String, _ other: String, partitions: (String?, String?) = (nil, nil)
    ) throws -> Bool {
        let scope = AuthorizationScope(of: try ResourceURL(given), in: partitions.0)
        return AuthorizationScope.scopes(of: try ResourceURL(other), in: partitions.1).contains(scope)
    }

    @Test(arguments: [
        "https://a.example/films/one/index.m3u8", "https://a.example/films/one/1.ts",
        "https://a.example/films/one/audio/de/1.ts?x=/y", "https://A.example:443/films/one/1.ts",
    ])
    func theFolderAndWhatLiesBelowIt(_ other: String) throws {
        #expect(try Self.covers("https://a.example/films/one/index.m3u8?token=/1/2", other))
    }

    @Test(arguments: [
        "https://a.example/films/two/1.ts", "https://a.example/films/1.ts", "https://a.example/films/one",
        "https://a.example/films/one2/1.ts", "https://a.example/", "https://b.example/films/one/1.ts",
        "http://a.example/films/one/1.ts", "https://a.example:8443/films/one/1.ts",
        "https://a.example/films/two/x?y=/films/one/1.ts", "https://a.example/FILMS/one/1.ts",
    ])
    func nothingElse(_ other: String) throws {
        #expect(try !Self.covers("https://a.example/films/one/index.m3u8", other))
    }

    @Test func ofTwoFoldersTheInnermostCountsFirst() throws {
        let url = try ResourceURL("https://a.example/films/one/audio/1.ts")
        let scopes = AuthorizationScope.scopes(of: url, in: nil)
        let inner = AuthorizationScope(of: try ResourceURL("https://a.example/films/one/audio/list.m3u8"), in: nil)
        let outer = AuthorizationScope(of: try ResourceURL("https://a.example/films/one/index.m3u8"), in: nil)
        let root = AuthorizationScope(of: try ResourceURL("https://a.example/index.m3u8"), in: nil)
        #expect(scopes.first == inner && scopes.last == root && scopes.count == 4)
        let (innerPlace, outerPlace) = (scopes.firstIndex(of: inner) ?? .max, scopes.firstIndex(of: outer) ?? .max)
        #expect(innerPlace < outerPlace)
    }

    @Test func partitionsShareNothing() throws {
        let (list, file) = ("https://a.example/f/index.m3u8", "https://a.example/f/1.ts")
        #expect(try Self.covers(list, file, partitions: ("anna", "anna")))
        #expect(try !Self.covers(list, file, partitions: ("anna", "ben")))
        #expect(try !Self.covers(list, file, partitions: (nil, "ben")))
        #expect(try !Self.covers(list, file, partitions: ("anna", nil)))
    }

    @Test func aDeepPathHasABoundedNumberOfScopes() throws {
        let path = String(repeating: "/d", count: 3000)
        let url = try ResourceURL("https://a.example\(path)/1.ts")
        let scopes = AuthorizationScope.scopes(of: url, in: nil)
        #expect(scopes.count == 32 && scopes.first == AuthorizationScope(of: url, in: nil))
    }
}
