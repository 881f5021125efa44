import * as z from 'zod'
import { readIdPrefix } from '../../core/crypto.ts'
import { CLAIM_TARGET } from '../../schema/claim-mapping-shapes.ts'
import { requiredText } from '../../schema/input-shapes.ts'
import { asId, createIdPattern, jsonObjectShape } from '../../schema/response-shapes.ts'

/** What is previewed. */
export const PreviewInput = z.strictObject({
  userId: asId(requiredText(200).refine((id) => readIdPrefix(id) === 'user', 'is not the id of a user')).meta(
    {
      pattern: createIdPattern('user'),
      description: 'The user.',
      example: 'user_01k7r3m8wxe4gbr5v2c9t6hznq',
    },
  ),
  clientId: asId(requiredText(2048)).meta({ description: 'The client.' }),
  scope: requiredText(2000).nullish().meta({
    description: 'The requested scopes, separated by spaces; by default, those of a request without scopes.',
    example: 'openid email',
  }),
  organization: requiredText(100).nullish().meta({
    description: 'The id or the slug of an organization of the user that the tokens are for.',
    example: 'acme',
  }),
  resource: requiredText(2000).nullish().meta({
    description: 'The API that the access token is for (RFC 8707).',
    example: 'https://api.shop.example',
  }),
})

const OmittedShape = z
  .object({
    target: CLAIM_TARGET.shape.meta({ description: 'The token or response.', example: 'access_token' }),
    claims: z.array(z.string()).meta({ description: 'The names of the claims.', example: ['bio'] }),
  })
  .meta({
    id: 'OmittedClaims',
    description: 'Mapped claims that are left out, because a token would be too large.',
  })

export const PreviewShape = z
  .object({
    scopes: z
      .array(z.string())
      .meta({ description: 'The scopes that the user can grant.', example: ['openid', 'email'] }),
    accessToken: jsonObjectShape.meta({
      description: 'The claims of the access token.',
      example: { sub: 'user_01k7r3m8wxe4gbr5v2c9t6hznq', aud: 'https://api.shop.example' },
    }),
    idToken: jsonObjectShape.nullable().meta({
      description: 'The claims of the ID token; null without the scope openid.',
      example: { sub: 'user_01k7r3m8wxe4gbr5v2c9t6hznq' },
    }),
    userinfo: jsonObjectShape.nullable().meta({
      description: 'The claims of the userinfo response; null without the scope openid.',
      example: { sub: 'user_01k7r3m8wxe4gbr5v2c9t6hznq', email: 'ada@example.com' },
    }),
    omitted: z.array(OmittedShape).meta({ description: 'What is left out.' }),
  })
  .meta({
    id: 'TokenPreview',
    description: 'The claims that a client would get about a user. Nothing is signed.',
  })
export type TokenPreview = z.output<typeof PreviewShape>
