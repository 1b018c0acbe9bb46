#if canImport(Security)
    public import Crypto
    import Foundation
    import Security

    /// A key in the Keychain, created on first use.
    ///
    /// Readable after the first unlock, so that downloads continue behind the lock screen; never leaves this device. On
    /// macOS the key of a program without entitlements, such as a bare command, is in the file keychain, where only the
    /// latter holds.
    public struct KeychainKey: CacheKeyProvider {
        private let service: String
        private let account: String

        /// Creates a provider of the key stored for `service`, by default the app's identifier, under `account`.
        public init(service: String? = nil, account: String = "reprise") {
            self.service = service ?? Bundle.main.bundleIdentifier ?? "reprise"
            self.account = account
        }

        /// Reads the key, or creates one.
        ///
        /// Throws ``RepriseError`` with code `keyUnavailable` when the Keychain refuses, for example before the first
        /// unlock.
        public func key() throws(RepriseError) -> SymmetricKey {
            if let key = try item(inDataProtectionKeychain: true).key() { return key }
            #if os(macOS)
                if let key = try item(inDataProtectionKeychain: false).key() { return key }
            #endif
            throw RepriseError(
                .keyUnavailable, "The Keychain does not give the cache's key (status \(errSecMissingEntitlement)).")
        }

        private func item(inDataProtectionKeychain isProtected: Bool) -> SecurityItem {
            SecurityItem(query: [
                kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: account,
                kSecUseDataProtectionKeychain: isProtected,
            ])
        }
    }

    /// An item of the system's keychain.
    private struct SecurityItem: KeyItem {
        let query: [CFString: Any]

        func read() -> KeyItemAnswer {
            var found: CFTypeRef?
            let status = SecItemCopyMatching(query.merging([kSecReturnData: true]) { $1 } as CFDictionary, &found)
            return Self.answer(status, data: found as? Data ?? Data())
        }

        func add(_ data: Data) -> KeyItemAnswer {
            let attributes: [CFString: Any] = [
                kSecValueData: data, kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            ]
            return Self.answer(SecItemAdd(query.merging(attributes) { $1 } as CFDictionary, nil), data: data)
        }

        private static func answer(_ status: OSStatus, data: Data) -> KeyItemAnswer {
            switch status {
            case errSecSuccess: .found(data)
            case errSecItemNotFound: .notFound
            case errSecDuplicateItem: .duplicate
            case errSecMissingEntitlement: .notEntitled
            default: .refused(status)
            }
        }
    }
#endif
