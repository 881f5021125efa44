import {
  omitEmpty,
  readBcrypt,
  readEmail,
  readObject,
  readPhoneNumber,
  readText,
  readUrl,
  type Source,
} from './source.ts'

/** Supabase: the rows of `auth.users`, as CSV or JSON. */
export const SUPABASE: Source = {
  toLine: (record) => {
    const metadata = readObject(record.raw_user_meta_data)
    const phone = readText(record.phone)
    const bannedUntil = readText(record.banned_until)
    return omitEmpty({
      externalId: readText(record.id),
      ...readEmail(record.email, readText(record.email_confirmed_at) !== undefined),
      // Supabase stores numbers without the plus sign.
      ...readPhoneNumber(
        phone && `+${phone.replace(/^\+/, '')}`,
        readText(record.phone_confirmed_at) !== undefined,
      ),
      name: readText(metadata.full_name) ?? readText(metadata.name),
      picture: readUrl(metadata.avatar_url),
      // Also `infinity`, which Date does not know.
      locked: (bannedUntil !== undefined && !(new Date(bannedUntil) <= new Date())) || undefined,
      userMetadata: metadata,
      proof: readBcrypt(record.encrypted_password),
    })
  },
}
