import { readJsonRecords } from './json-records.ts'
import {
  omitEmpty,
  readEmail,
  readFlag,
  readList,
  readNames,
  readObject,
  readText,
  type Source,
  type SourceConfig,
  type SourceRecord,
  toIdentity,
  toRoles,
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

/** Roles that every realm has, and clients whose roles are about Keycloak itself. */
const OWN_ROLES = /^(?:offline_access|uma_authorization|default-roles-.*)$/
const OWN_CLIENTS = [
  'account',
  'account-console',
  'admin-cli',
  'broker',
  'realm-management',
  'security-admin-console',
]

/** The roles of a user: those of the realm, and those of clients as `client:role`. */
function readRoles(record: SourceRecord, config: SourceConfig): string[] {
  const ofClients = Object.entries(readObject(record.clientRoles))
    .filter(([client]) => !OWN_CLIENTS.includes(client))
    .flatMap(([client, names]) => readNames(names).map((name) => `${client}:${name}`))
  const ofRealm = readNames(record.realmRoles).filter((name) => !OWN_ROLES.test(name))
  return toRoles(config, [...ofRealm, ...ofClients])
}

/** The passkeys of a user, if they were created for the RP ID. The user handle is the id of the user. */
const readPasskeys = (record: SourceRecord, { rpId }: SourceConfig): object[] =>
  readList(record.credentials)
    .filter(({ type }) => rpId !== null && type === 'webauthn-passwordless')
    .map(({ credentialData }) => {
      const data = readObject(credentialData)
      return omitEmpty({
        id: data.credentialId,
        publicKey: data.credentialPublicKey,
        userHandle: Buffer.from(String(record.id)).toString('base64url'),
        rpId,
        signCount: data.counter,
        transports: readNames(data.transports),
      })
    })

/** An organization with its members may be long. */
const MAX_ORGANIZATION_CHARS = 67_108_864

/** The organizations of a realm by the user names of their members. Throws InvalidInput. */
export async function readOrganizations(
  texts: AsyncIterable<string>,
): Promise<ReadonlyMap<string, object[]>> {
  const byUser = new Map<string, object[]>()
  for await (const record of readJsonRecords(texts, 'organizations', MAX_ORGANIZATION_CHARS)) {
    const { id, alias, name, members } = record as SourceRecord
    const organization = omitEmpty({
      slug: readText(alias)?.toLowerCase(),
      externalId: readText(id),
      name: readText(name),
    })
    for (const member of readList(members)) {
      const username = readText(member.username)
      if (username) byUser.set(username, [...(byUser.get(username) ?? []), organization])
    }
  }
  return byUser
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
      passkeys: readPasskeys(record, config),
      appRoles: readRoles(record, config),
      // A group is known by its path here.
      groups: readNames(record.groups).map((path) => path.replace(/^\//, '')),
      organizations: config.organizations.get(readText(record.username) ?? ''),
      proof: password && {
        hash: { algorithm: 'keycloak', value: JSON.stringify({ secretData, credentialData }) },
      },
    })
  },
}
