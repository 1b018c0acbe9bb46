#if canImport(Security)
    public import Crypto
    import Foundation
    import Security

    /// A key in the Keychain, made at the first use.
    ///
    /// Readable after the first unlock, so that downloads go on behind the lock screen; never leaves this device.
    public struct KeychainKey: CacheKeyProvider {
        private let service: String
        private let account: String

        /// The key stored for `service`, by default the app's, under `account`.
        public init(service: String? = nil, account: String = "reprise") {
            self.service = service ?? Bundle.main.bundleIdentifier ?? "reprise"
            self.account = account
        }

        private var query: [CFString: Any] {
            [kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: account]
        }

        /// Reads the key, or makes one.
        ///
        /// Throws ``RepriseError`` with code `keyUnavailable` when the Keychain refuses, as before the first unlock.
        public func key() throws(RepriseError) -> SymmetricKey {
            var found: CFTypeRef?
            let status = SecItemCopyMatching(
                query.merging([kSecReturnData: true]) { $1 } as CFDictionary, &found)
            if status == errSecSuccess, let data = found as? Data, data.count == 32 { return SymmetricKey(data: data) }
            guard status == errSecItemNotFound else { throw Self.refused(status) }
            let key = SymmetricKey(size: .bits256)
            let attributes: [CFString: Any] = [
                kSecValueData: key.withUnsafeBytes { Data($0) },
                kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            ]
            let added = SecItemAdd(query.merging(attributes) { $1 } as CFDictionary, nil)
            guard added == errSecSuccess else { throw Self.refused(added) }
            return key
        }

        private static func refused(_ status: OSStatus) -> RepriseError {
            RepriseError(.keyUnavailable, "The Keychain does not give the cache's key (status \(status)).")
        }
    }
#endif
