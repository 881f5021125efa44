import { InvalidInput } from '../../core/errors.ts'
import {
  type HashConfig,
  omitEmpty,
  readEmail,
  readFlag,
  readList,
  readObject,
  readPhoneNumber,
  readText,
  readUrl,
  type Source,
  toIdentity,
} from './source.ts'

/** Firebase: the file of `firebase auth:export`, with the parameters of the project's hashes. */
export const FIREBASE: Source = {
  member: 'users',
  toLine: (record, config) => {
    const value = readText(record.passwordHash)
    const salt = readText(record.salt)
    return omitEmpty({
      externalId: readText(record.localId),
      ...readEmail(record.email, record.emailVerified),
      // Firebase has verified numbers only.
      ...readPhoneNumber(record.phoneNumber, true),
      name: readText(record.displayName),
      picture: readUrl(record.photoUrl),
      locked: readFlag(record.disabled) || undefined,
      appMetadata: readObject(record.customAttributes),
      identities: readList(record.providerUserInfo).flatMap(({ providerId, rawId }) =>
        toIdentity(config, providerId, rawId),
      ),
      proof:
        value && salt && config.hash
          ? { hash: { algorithm: 'firebase-scrypt', value, salt, ...config.hash } }
          : undefined,
    })
  },
}

/** Reads the parameters as the console of Firebase shows them: `base64_signer_key: …`. Throws InvalidInput. */
export function readHashConfig(text: string): HashConfig {
  const read = (name: string) => new RegExp(`"?${name}"?\\s*[:=]\\s*"?([\\w+/=-]+)`).exec(text)?.[1]
  const names = {
    signerKey: 'base64_signer_key',
    saltSeparator: 'base64_salt_separator',
    rounds: 'rounds',
    memoryCost: 'mem_cost',
  }
  const {
    signerKey = '',
    saltSeparator = '',
    rounds,
    memoryCost,
  } = Object.fromEntries(Object.entries(names).map(([member, name]) => [member, read(name)]))
  const missing = Object.values(names).filter((name) => read(name) === undefined)
  if (missing.length > 0)
    throw new InvalidInput([{ field: 'hash-config', description: `lacks ${missing.join(', ')}` }])
  return { signerKey, saltSeparator, rounds: Number(rounds), memoryCost: Number(memoryCost) }
}
