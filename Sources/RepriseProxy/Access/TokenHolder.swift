import Primitives

/// Those who use one token of a server.
final class TokenHolder: Sendable {
    let token: AccessToken
    /// Number of files that are being sent to them.
    private let answers: Mutex<Int>
    /// Holds their answers to the rate of the token.
    let pace: TokenPace

    /// Holders of `token`, who go on where `former` ones of the same name are.
    init(_ token: AccessToken, after former: TokenHolder? = nil) {
        self.token = token
        answers = former?.answers ?? Mutex(0)
        pace = former?.pace ?? TokenPace()
    }

    var name: String? { token.name }

    /// Takes a place for one more answer; false if all are taken.
    func takePlace() -> Bool {
        guard let most = token.mostAnswers else { return true }
        return answers.withLock { count in
            guard count < most else { return false }
            count += 1
            return true
        }
    }

    /// Gives a place back.
    func givePlaceBack() {
        if token.mostAnswers != nil { answers.withLock { $0 -= 1 } }
    }
}
