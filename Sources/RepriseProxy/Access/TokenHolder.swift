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

    /// What taking a place comes to.
    enum Admission {
        /// The token allows any number of answers.
        case free
        case taken(AnswerPlace)
        /// All places are taken.
        case refused
    }

    /// Takes a place for one more answer.
    func takePlace() -> Admission {
        guard let most = token.mostAnswers else { return .free }
        let isTaken = answers.withLock { count in
            guard count < most else { return false }
            count += 1
            return true
        }
        return isTaken ? .taken(AnswerPlace(of: self)) : .refused
    }

    fileprivate func givePlaceBack() { answers.withLock { $0 -= 1 } }
}

/// A place among the files that are sent to the holders of a token.
///
/// It is given back before the client can see the end of the answer: its next request may come at once, on another
/// connection.
final class AnswerPlace: Sendable {
    private let holder: Mutex<TokenHolder?>

    fileprivate init(of holder: TokenHolder) { self.holder = Mutex(holder) }

    deinit { giveBack() }

    /// Gives it back, unless that was done before.
    func giveBack() { holder.withLock { $0.take() }?.givePlaceBack() }
}
