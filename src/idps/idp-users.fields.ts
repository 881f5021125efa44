import { z } from 'zod'
import { allowedUrl, metadata, requiredText, text } from '../fields.ts'
import { idOf, jsonObject, time } from '../shapes.ts'

/** OIDC Core, section 2: a subject has 255 characters at most. */
const externalId = requiredText(255).meta({
  description: 'Identifier of the user at the provider.',
  example: '248289761001',
})

/** An administrator's assertion of who somebody is at a provider. */
export const IdpUserAdd = z
  .strictObject(
    {
      externalId,
      metadata: metadata
        .nullish()
        .transform((value) => value ?? {})
        .meta({ description: 'Free-form object.', example: { email: 'ada@partner.example' } }),
    },
    'must be an object',
  )
  .meta({ id: 'IdpUserAdd', description: 'Who somebody is at a provider, as the caller asserts.' })

const PROOFS = ['idToken', 'accessToken', 'code'] as const
/** Tokens with many claims have some kilobytes. */
const proof = text(20_000)
  .transform((value) => value || null)
  .nullish()
  .transform((value) => value ?? null)
const ofCode = <Shape extends z.ZodType<string>>(shape: Shape) =>
  z.preprocess((value) => (value === '' ? null : value), shape.nullish()).transform((value) => value ?? null)

/** What proves who somebody is at a provider: exactly one of idToken, accessToken and code. */
export const IdpUserLink = z
  .strictObject(
    {
      idToken: proof.meta({ description: 'An ID token of the provider, issued to its clientId.' }),
      accessToken: proof.meta({ description: 'An access token of the provider, issued to its clientId.' }),
      code: proof.meta({
        description: 'An authorization code of the provider, issued to its clientId.',
        example: 'SplxlOBeZQQYbYS6WxSbIA',
      }),
      redirectUri: ofCode(allowedUrl({ customSchemes: true })).meta({
        description: 'Of the code: where the provider sent it.',
        example: 'https://app.example/callback',
      }),
      codeVerifier: ofCode(text(128)).meta({
        description: 'Of the code: the verifier of its challenge (PKCE).',
      }),
    },
    'must be an object',
  )
  .superRefine(
    (input, context) => {
      const given = PROOFS.filter((name) => input[name])
      const report = (field: string, message: string) =>
        context.addIssue({ code: 'custom', path: [field], message })
      if (given.length === 0) report('idToken', 'is required, or else accessToken or code')
      for (const name of given.slice(1)) report(name, `cannot be combined with ${given[0]}`)
      for (const name of ['redirectUri', 'codeVerifier'] as const)
        if (input[name] && !input.code) report(name, 'goes with a code only')
    },
    { when: ({ value }) => typeof value === 'object' && value !== null },
  )
  .meta({
    id: 'IdpUserLink',
    description: 'What proves who somebody is at a provider: exactly one of idToken, accessToken and code.',
  })
export type LinkProof = z.output<typeof IdpUserLink>

/** A link as REST answers it, in the order of the specification. */
export const IdpUserShape = z
  .object({
    idpId: z.string().meta({ description: 'Id of the identity provider.', example: 'partner' }),
    userId: idOf('user').meta({ description: 'Id of the user.' }),
    externalId: z
      .string()
      .meta({ description: 'Identifier of the user at the provider.', example: '248289761001' }),
    metadata: jsonObject.meta({
      description: 'Free-form object; of a link that the provider proved, its unverified claims.',
      example: { email: 'ada@partner.example' },
    }),
    lastLoginAt: time.nullable().meta({ description: 'When the provider last proved it; null for never.' }),
    updatedAt: time.meta({ description: 'When the link was last changed.' }),
    createdAt: time.meta({ description: 'When the link was made.' }),
  })
  .meta({ id: 'IdpUser', model: 'IdpUser' })
