import { z } from 'zod'
import { asksOf, asksOfClaims } from '../oidc/signin/scope-words.ts'
import { clientId, time, toBodyOf } from '../shapes.ts'
import type { ConsentOfClient } from './consents.ts'

const words = z.string().meta({ description: 'What it means, as the person was asked.' })

/** A consent as REST answers it. */
export const ConsentShape = z
  .object({
    clientId: clientId.meta({ description: 'Id of the client.' }),
    clientName: z.string().meta({ description: 'Name of the client.', example: 'Shop' }),
    clientLogoUrl: z
      .string()
      .nullable()
      .meta({ description: 'Logo of the client.', example: 'https://shop.example/logo.png' }),
    scopes: z.array(z.object({ scope: z.string().meta({ description: 'Name of the scope.' }), words })).meta({
      description: 'What the person agreed to.',
      example: [{ scope: 'email', words: 'See your email address' }],
    }),
    claims: z.array(z.object({ claim: z.string().meta({ description: 'Name of the claim.' }), words })).meta({
      description: 'Claims that the person agreed to one by one, beside those of the scopes.',
      example: [],
    }),
    updatedAt: time.meta({ description: 'When the person last agreed.' }),
    createdAt: time.meta({ description: 'When the person first agreed.' }),
  })
  .meta({ id: 'Consent', description: 'What a person agreed to let a client do.' })

const toBody = toBodyOf(ConsentShape)

/** A consent as REST answers it. */
export const toConsent = ({ client, scopes, claims, ...consent }: ConsentOfClient) =>
  toBody({
    ...consent,
    clientName: client.name,
    clientLogoUrl: client.logoUrl,
    scopes: asksOf(scopes),
    claims: asksOfClaims(claims),
  })
