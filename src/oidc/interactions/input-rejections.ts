import type { Db } from '../../database/handle.ts'
import { updateInputRejection } from './interactions.sql.ts'
import { hashBinding, type Interaction } from './interactions.ts'
import type { InputRejection } from './progress.ts'

/** PostgreSQL stores neither U+0000 nor unpaired surrogates, in text or jsonb. */
const toStorableText = (text: string, length = 320): string =>
  text.replaceAll('\u0000', '').slice(0, length).toWellFormed()
/** Longest entered value of a field that is shown again. */
const ENTRY_LENGTH = 1000

/** Stores why an input was rejected, for the page that the browser is redirected to. */
export const setInputRejection = (db: Db, interaction: Interaction, refusal: InputRejection): Promise<void> =>
  updateInputRejection(db, hashBinding(interaction), {
    ...refusal,
    ...(refusal.entered !== undefined && { entered: toStorableText(refusal.entered) }),
    ...(refusal.values && {
      values: Object.fromEntries(
        Object.entries(refusal.values).map(([name, value]) => [name, toStorableText(value, ENTRY_LENGTH)]),
      ),
    }),
  })

/** Deletes the rejection after it was shown. */
export const clearInputRejection = (db: Db, interaction: Interaction): Promise<void> =>
  updateInputRejection(db, hashBinding(interaction), null)
