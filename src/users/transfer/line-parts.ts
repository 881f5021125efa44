import * as z from 'zod'
import type { Ctx } from '../../context/context.ts'
import type { Tx } from '../../database/handle.ts'
import { isIdpId } from '../../schema/idp-id.ts'
import { text } from '../../schema/input-shapes.ts'

const MAX_IDENTITIES = 20

/** What a line may have besides the fields of a user. The domain that stores it writes it. */
export const LINE_PARTS = {
  totpKey: text(256)
    .transform((key) => key.replace(/[\s=-]/g, '').toUpperCase())
    .refine((key) => /^[A-Z2-7]{16,128}$/.test(key), 'must be a key in base32 of at least ten bytes')
    .optional()
    .meta({
      description:
        'The key of the authenticator app of the user, in base32, for codes of six digits that change every 30 seconds. A user who has an app keeps it.',
      example: 'JBSWY3DPEHPK3PXP',
    }),
  identities: z
    .array(
      z.strictObject(
        {
          idpId: text(64)
            .refine(isIdpId, 'must be the id of an identity provider')
            .meta({ example: 'google' }),
          externalId: text(255).meta({ example: '248289761001' }),
        },
        'must be an object',
      ),
      'must be an array',
    )
    .max(MAX_IDENTITIES, `must have at most ${MAX_IDENTITIES} entries`)
    .optional()
    .meta({
      description:
        'The identities of the user at identity providers of the tenant, which the caller asserts. A user who has one there keeps it.',
    }),
}
type PartName = keyof typeof LINE_PARTS
export type LineParts = { [Name in PartName]?: z.output<(typeof LINE_PARTS)[Name]> }

/** Stores a part of a line, for a user whose row the transaction has locked. True when something was stored. */
type WritePart<Name extends PartName> = (
  tx: Tx,
  ctx: Ctx,
  userId: string,
  part: NonNullable<LineParts[Name]>,
) => Promise<boolean>

const writers = new Map<PartName, WritePart<never>>()

/** Registers who stores a part, so that this folder does not import the folders above it. */
export function registerLinePart<Name extends PartName>(name: Name, write: WritePart<Name>): void {
  writers.set(name, write as unknown as WritePart<never>)
}

/** Stores the parts of a line. True when something was stored. */
export async function writeLineParts(
  tx: Tx,
  ctx: Ctx,
  userId: string,
  parts: LineParts = {},
): Promise<boolean> {
  let isChanged = false
  for (const [name, part] of Object.entries(parts))
    if (part !== undefined && (await writers.get(name as PartName)?.(tx, ctx, userId, part as never)))
      isChanged = true
  return isChanged
}
