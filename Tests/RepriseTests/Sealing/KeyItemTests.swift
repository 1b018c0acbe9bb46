import Crypto
import Foundation
import TestLimits
import Testing

@testable import Reprise

/// A keychain that gives scripted answers, in order.
private final class ScriptedItem: KeyItem {
    private var answers: [KeyItemAnswer]
    private(set) var added: [Data] = []

    init(_ answers: KeyItemAnswer...) { self.answers = answers }

    private func next() -> KeyItemAnswer { answers.isEmpty ? .refused(-1) : answers.removeFirst() }

    func read() -> KeyItemAnswer { next() }

    func add(_ data: Data) -> KeyItemAnswer {
        added.append(data)
        let answer = next()
        return answer == .found(Data()) ? .found(data) : answer
    }
}

@Suite("The key in a keychain", .limit(minutes: 1))
struct KeyItemTests {
    private let stored = Data(repeating: 7, count: 32)

    @Test func aStoredKeyIsRead() throws {
        #expect(try ScriptedItem(.found(stored)).key() == SymmetricKey(data: stored))
    }

    @Test func aMissingKeyIsMadeAndAdded() throws {
        let item = ScriptedItem(.notFound, .found(Data()))
        let key = try #require(try item.key())
        #expect(item.added == [key.withUnsafeBytes { Data($0) }])
        #expect(item.added.first?.count == 32)
    }

    @Test func theKeyOfAnotherProcessThatCameFirstIsRead() throws {
        #expect(try ScriptedItem(.notFound, .duplicate, .found(stored)).key() == SymmetricKey(data: stored))
    }

    @Test(arguments: [KeyItemAnswer.notEntitled, .notFound])
    func aProgramWithoutTheEntitlementHasNoKey(_ first: KeyItemAnswer) throws {
        #expect(try ScriptedItem(first, .notEntitled).key() == nil)
    }

    @Test func everythingElseIsAnError() {
        for item in [
            ScriptedItem(.refused(-25308)), ScriptedItem(.found(Data(repeating: 1, count: 31))),
            ScriptedItem(.notFound, .refused(-25308)), ScriptedItem(.notFound, .duplicate, .notFound),
        ] {
            let error = #expect(throws: RepriseError.self) { try item.key() }
            #expect(error?.code == .keyUnavailable)
        }
    }
}
