import { omitEmpty, readEmail, readList, readPhoneNumber, readText, readUrl, type Source } from './source.ts'

/** Amazon Cognito: the answer of `aws cognito-idp list-users`. Cognito exports no hashes. */
export const COGNITO: Source = {
  member: 'Users',
  toLine: (record) => {
    const attributes = Object.fromEntries(
      readList(record.Attributes ?? record.UserAttributes).map(({ Name, Value }) => [String(Name), Value]),
    )
    const custom = Object.entries(attributes).filter(([name]) => name.startsWith('custom:'))
    return omitEmpty({
      externalId: readText(attributes.sub) ?? readText(record.Username),
      ...readEmail(attributes.email, attributes.email_verified),
      ...readPhoneNumber(attributes.phone_number, attributes.phone_number_verified),
      name: readText(attributes.name),
      givenName: readText(attributes.given_name),
      familyName: readText(attributes.family_name),
      nickname: readText(attributes.nickname),
      preferredUsername: readText(attributes.preferred_username) ?? readText(record.Username),
      picture: readUrl(attributes.picture),
      locked: record.Enabled === false || undefined,
      appMetadata: Object.fromEntries(custom.map(([name, value]) => [name.slice('custom:'.length), value])),
    })
  },
}
