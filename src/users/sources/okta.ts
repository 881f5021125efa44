import { omitEmpty, readEmail, readObject, readText, type Source } from './source.ts'

const LOCKED = ['SUSPENDED', 'DEPROVISIONED']

/**
 * Okta: the answer of `GET /api/v1/users`. Okta exports no hashes. It does not say which addresses are proven: an
 * administrator may have activated the user.
 */
export const OKTA: Source = {
  toLine: ({ id, status, profile: given }) => {
    const profile = readObject(given)
    const names = [profile.firstName, profile.lastName].map(readText)
    return omitEmpty({
      externalId: readText(id),
      ...readEmail(profile.email, false),
      name: readText(profile.displayName) ?? names.filter(Boolean).join(' '),
      givenName: names[0],
      familyName: names[1],
      nickname: readText(profile.nickName),
      preferredUsername: readText(profile.login),
      locked: LOCKED.includes(String(status)) || undefined,
    })
  },
}
