import {
  omitEmpty,
  readEmail,
  readFlag,
  readList,
  readObject,
  readText,
  type Source,
  type SourceRecord,
  toIdentity,
} from './source.ts'

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** Bytes in base32 (RFC 4648, section 6), without padding. */
function toBase32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{1,5}/g) ?? []).map((five) => BASE32[Number.parseInt(five.padEnd(5, '0'), 2)]).join('')
}

/** The key of an app with the parameters of apps; Keycloak has its bytes as text, or in base32. */
function readTotpKey(app: SourceRecord): string | undefined {
  const key = readText(readObject(app.secretData).value)
  const { subType, digits, period, algorithm, secretEncoding } = readObject(app.credentialData)
  const isUsual = subType === 'totp' && digits === 6 && period === 30 && algorithm === 'HmacSHA1'
  if (!key || !isUsual) return undefined
  return secretEncoding === 'BASE32' ? key : toBase32(Buffer.from(key))
}

/** Keycloak: the export of a realm (`kc.sh export`), or one of its files of users. */
export const KEYCLOAK: Source = {
  member: 'users',
  toLine: (record, config) => {
    const password = readList(record.credentials).find(({ type }) => type === 'password')
    const { secretData, credentialData } = password ?? {}
    const app = readList(record.credentials).find(({ type }) => type === 'otp')
    const attributes = readObject(record.attributes)
    return omitEmpty({
      externalId: readText(record.id),
      ...readEmail(record.email, record.emailVerified),
      name: [record.firstName, record.lastName].map(readText).filter(Boolean).join(' '),
      givenName: readText(record.firstName),
      familyName: readText(record.lastName),
      preferredUsername: readText(record.username),
      locked: record.enabled !== undefined && !readFlag(record.enabled) ? true : undefined,
      appMetadata: attributes,
      totpKey: app && readTotpKey(app),
      identities: readList(record.federatedIdentities).flatMap(({ identityProvider, userId }) =>
        toIdentity(config, identityProvider, userId),
      ),
      proof: password && {
        hash: { algorithm: 'keycloak', value: JSON.stringify({ secretData, credentialData }) },
      },
    })
  },
}
