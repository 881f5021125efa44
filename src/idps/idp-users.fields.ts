import * as z from 'zod'
import { isJsonObject } from '../core/json/json-object.ts'
import { metadata, optional, requiredText, text } from '../schema/input-shapes.ts'
import { createIdShape, idShape, instantShape, jsonObjectShape } from '../schema/response-shapes.ts'
import { createAllowedUrl } from '../schema/url-shapes.ts'

/** OIDC Core, section 2: a subject has 255 characters at most. */
const externalId = requiredText(255).meta({
  description: 'Identifier of the user at the provider.',
  example: '248289761001',
})

/** An identity at a provider that an administrator asserts. */
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
  .meta({ id: 'IdpUserAdd', description: 'The identity at a provider that the caller asserts.' })

const PROOFS = ['idToken', 'accessToken', 'code'] as const
/** Maximum length of a token. */
const proof = optional(text(20_000)).transform((value) => value ?? null)
const codeField = <Shape extends z.ZodType<string>>(shape: Shape) =>
  optional(shape).transform((value) => value ?? null)

/** The proof of an identity at a provider: exactly one of idToken, accessToken and code. */
export const IdpUserLink = z
  .strictObject(
    {
      idToken: proof.meta({ description: 'An ID token of the provider, issued to its clientId.' }),
      accessToken: proof.meta({ description: 'An access token of the provider, issued to its clientId.' }),
      code: proof.meta({
        description: 'An authorization code of the provider, issued to its clientId.',
        example: 'SplxlOBeZQQYbYS6WxSbIA',
      }),
      redirectUri: codeField(createAllowedUrl({ customSchemes: true })).meta({
        description: 'With code: the redirect URI to which the provider sent it.',
        example: 'https://app.example/callback',
      }),
      codeVerifier: codeField(text(128)).meta({
        description: 'With code: the code verifier (PKCE).',
      }),
    },
    'must be an object',
  )
  .superRefine(
    (input, context) => {
      const given = PROOFS.filter((name) => input[name])
      const addIssue = (field: string, message: string) =>
        context.addIssue({ code: 'custom', path: [field], message })
      if (PROOFS.every((name) => (input[name] ?? null) === null))
        addIssue('idToken', 'is required, or else accessToken or code')
      for (const name of given.slice(1)) addIssue(name, `cannot be combined with ${given[0]}`)
      for (const name of ['redirectUri', 'codeVerifier'] as const)
        if (input[name] && !input.code) addIssue(name, 'requires code')
    },
    { when: ({ value }) => isJsonObject(value) },
  )
  .meta({
    id: 'IdpUserLink',
    description: 'The proof of an identity at a provider: exactly one of idToken, accessToken and code.',
  })
export type LinkProof = z.output<typeof IdpUserLink>

/** A link as REST returns it, in the order of the API. */
export const IdpUserShape = z
  .object({
    idpId: idShape.meta({ description: 'Id of the identity provider.', example: 'partner' }),
    userId: createIdShape('user').meta({ description: 'Id of the user.' }),
    externalId: z
      .string()
      .meta({ description: 'Identifier of the user at the provider.', example: '248289761001' }),
    metadata: jsonObjectShape.meta({
      description: 'Free-form object. For a link that the provider proved, its unverified claims.',
      example: { email: 'ada@partner.example' },
    }),
    lastLoginAt: instantShape
      .nullable()
      .meta({ description: 'When the provider last proved the identity; null if never.' }),
    disabledAt: instantShape.nullable().meta({
      description:
        'Since when the provider has disabled the account there: it signs nobody in. Null otherwise.',
      example: null,
    }),
    updatedAt: instantShape.meta({ description: 'When the link was last changed.' }),
    createdAt: instantShape.meta({ description: 'When the link was created.' }),
  })
  .meta({ id: 'IdpUser', model: 'IdpUser' })
