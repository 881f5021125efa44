import {
  omitEmpty,
  readBcrypt,
  readEmail,
  readFlag,
  readList,
  readNames,
  readObject,
  readPhoneNumber,
  readText,
  readUrl,
  type Source,
  toIdentity,
  toRoles,
} from './source.ts'

/**
 * Auth0: the export of users (JSON, a record a line), and the file of password hashes that its support sends. Import the
 * users first: a record of a hash finds its user by the id.
 */
export const AUTH0: Source = {
  toLine: (record, config) => {
    const hash = readBcrypt(record.passwordHash ?? record.password_hash)
    // As the Authorization Extension stores them.
    const authorization = readObject(readObject(record.app_metadata).authorization)
    const oid = readText(readObject(record._id).$oid) ?? readText(record._id)
    return omitEmpty({
      externalId: readText(record.user_id) ?? (oid && `auth0|${oid}`),
      ...readEmail(record.email, record.email_verified),
      ...readPhoneNumber(record.phone_number, record.phone_verified),
      name: readText(record.name),
      givenName: readText(record.given_name),
      familyName: readText(record.family_name),
      nickname: readText(record.nickname),
      preferredUsername: readText(record.username),
      picture: readUrl(record.picture),
      locked: readFlag(record.blocked) || undefined,
      userMetadata: readObject(record.user_metadata),
      appMetadata: readObject(record.app_metadata),
      identities: readList(record.identities).flatMap(({ provider, user_id: subject }) =>
        toIdentity(config, provider, subject),
      ),
      appRoles: toRoles(config, authorization.roles),
      groups: readNames(authorization.groups),
      proof: hash,
    })
  },
}
