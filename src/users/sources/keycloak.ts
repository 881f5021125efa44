import { omitEmpty, readEmail, readFlag, readList, readObject, readText, type Source } from './source.ts'

/** Keycloak: the export of a realm (`kc.sh export`), or one of its files of users. */
export const KEYCLOAK: Source = {
  member: 'users',
  toLine: (record) => {
    const password = readList(record.credentials).find(({ type }) => type === 'password')
    const { secretData, credentialData } = password ?? {}
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
      proof: password && {
        hash: { algorithm: 'keycloak', value: JSON.stringify({ secretData, credentialData }) },
      },
    })
  },
}
