import * as z from 'zod'
import { resolveClientLogoUrl } from '../clients/client-logo.ts'
import { textIn } from '../schema/formats.ts'
import { clientIdShape, createBodyMapper, instantShape } from '../schema/response-shapes.ts'
import { toClaimConsentItems, toScopeConsentItems } from './consent-items.ts'
import type { ConsentWithClient } from './consents.ts'

const consentWords = z.string().meta({ description: 'Its meaning, as shown on the consent page.' })
const ConsentedScope = z
  .object({ scope: textIn('scope').meta({ description: 'Name of the scope.' }), words: consentWords })
  .meta({ typeName: 'ConsentedScope', description: 'A scope that the user consented to.' })
const ConsentedClaim = z
  .object({ claim: z.string().meta({ description: 'Name of the claim.' }), words: consentWords })
  .meta({
    typeName: 'ConsentedClaim',
    description: 'An individually requested claim that the user consented to.',
  })

/** A consent in REST responses. */
export const ConsentShape = z
  .object({
    clientId: clientIdShape.meta({ description: 'Id of the client.' }),
    clientName: z.string().meta({ description: 'Name of the client.', example: 'Shop' }),
    clientLogoUrl: textIn('uri')
      .nullable()
      .meta({ description: 'Logo of the client.', example: 'https://shop.example/logo.png' }),
    scopes: z.array(ConsentedScope).meta({
      description: 'Scopes that the user consented to.',
      example: [{ scope: 'email', words: 'See your email address' }],
    }),
    claims: z.array(ConsentedClaim).meta({
      description:
        'Individually requested claims that the user consented to, in addition to those of the scopes.',
      example: [],
    }),
    resources: z.array(textIn('uri')).meta({
      description: 'APIs that it may use on behalf of the user (RFC 8707).',
      example: ['https://api.shop.example'],
    }),
    updatedAt: instantShape.meta({ description: 'When the user last consented.' }),
    createdAt: instantShape.meta({ description: 'When the user first consented.' }),
  })
  .meta({ id: 'Consent', description: "A user's consent for a client." })

const toConsentBody = createBodyMapper(ConsentShape)

/** Converts a consent to its REST representation. */
export const toConsent = ({ client, scopes, claims, ...consent }: ConsentWithClient) =>
  toConsentBody({
    ...consent,
    clientName: client.name,
    clientLogoUrl: resolveClientLogoUrl(consent.tenantId, client),
    scopes: toScopeConsentItems(scopes),
    claims: toClaimConsentItems(claims),
  })

/** The members of the result of a revocation. */
export const REVOKED_CONSENT = { revokedClientId: clientIdShape.meta({ description: 'Id of the client.' }) }
