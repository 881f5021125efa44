import {
  omitEmpty,
  readBcrypt,
  readEmail,
  readPhoneNumber,
  readText,
  type Source,
  type SourceRecord,
} from './source.ts'

/** The algorithm of each hasher that exports name, besides bcrypt and that of Firebase. */
const ALGORITHMS: Record<string, string> = {
  argon2i: 'argon2',
  argon2id: 'argon2',
  md5: 'md5',
  pbkdf2_sha1: 'pbkdf2',
  pbkdf2_sha256: 'pbkdf2',
  pbkdf2_sha256_django: 'pbkdf2',
  pbkdf2_sha512: 'pbkdf2',
  sha256: 'sha256',
}

function readProof({ password_digest: digest, password_hasher: hasher }: SourceRecord): object | undefined {
  const [value, name] = [readText(digest), readText(hasher) ?? '']
  if (!value) return undefined
  if (name === 'scrypt_firebase') {
    const [hash, salt, signerKey, saltSeparator, rounds, memoryCost] = value.split('$')
    const numbers = { rounds: Number(rounds), memoryCost: Number(memoryCost) }
    return { hash: { algorithm: 'firebase-scrypt', value: hash, salt, signerKey, saltSeparator, ...numbers } }
  }
  const algorithm = ALGORITHMS[name]
  return readBcrypt(value) ?? (algorithm ? { hash: { algorithm, value } } : undefined)
}

/** The addresses of a list in a text. */
const readAddresses = (list: unknown): string[] =>
  (readText(list) ?? '').split(/[,|;]/).flatMap((address) => readText(address) ?? [])

/** Clerk: the CSV file of its dashboard, or the same members as JSON. */
export const CLERK: Source = {
  toLine: (record) => {
    const emails = readAddresses(record.verified_email_addresses)
    const phones = readAddresses(record.verified_phone_numbers)
    const email = readText(record.primary_email_address) ?? emails[0]
    const phone = readText(record.primary_phone_number) ?? phones[0]
    const names = [record.first_name, record.last_name].map(readText)
    return omitEmpty({
      externalId: readText(record.id),
      ...readEmail(email, email !== undefined && emails.includes(email)),
      ...readPhoneNumber(phone, phone !== undefined && phones.includes(phone)),
      name: names.filter(Boolean).join(' '),
      givenName: names[0],
      familyName: names[1],
      preferredUsername: readText(record.username),
      totpKey: readText(record.totp_secret),
      proof: readProof(record),
    })
  },
}
