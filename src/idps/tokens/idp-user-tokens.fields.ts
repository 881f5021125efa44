import * as z from 'zod'
import { textIn } from '../../schema/formats.ts'
import { createIdShape, idShape, instantShape } from '../../schema/response-shapes.ts'

/** Tokens of a provider as REST returns them, in the order of the API. */
export const IdpUserTokensShape = z
  .object({
    userId: createIdShape('user').meta({ description: 'Id of the user.' }),
    idpId: idShape.meta({ description: 'Id of the identity provider.', example: 'partner' }),
    accessToken: z
      .string()
      .meta({ description: 'The access token that the provider issued.', example: 'SlAV32hkKG' }),
    scopes: z.array(textIn('scope')).meta({
      description: 'The scopes that the provider granted; empty where it does not say.',
      example: ['openid', 'email'],
    }),
    expiresAt: instantShape
      .nullable()
      .meta({ description: 'When the access token expires; null where the provider does not say.' }),
  })
  .meta({
    id: 'IdpUserTokens',
    description: 'The tokens that an identity provider issued for a user.',
  })
