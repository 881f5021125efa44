import { builder } from '../graphql/builder.ts'
import type { RequirableAuthMethod, SecurityProfile } from './security-profile.ts'

export const SecurityProfileEnum = builder.enumType('SecurityProfile', {
  description: 'A set of security settings of a client.',
  values: {
    FAPI2: { value: 'fapi2' as SecurityProfile, description: 'The FAPI 2.0 Security Profile.' },
  },
})

export const TokenEndpointAuthMethodEnum = builder.enumType('TokenEndpointAuthMethod', {
  description: 'How a client authenticates (OpenID Connect Core, section 9).',
  values: {
    CLIENT_SECRET_BASIC: {
      value: 'client_secret_basic' as RequirableAuthMethod,
      description: 'By its secret in the Authorization header.',
    },
    CLIENT_SECRET_POST: {
      value: 'client_secret_post' as RequirableAuthMethod,
      description: 'By its secret in the form.',
    },
    PRIVATE_KEY_JWT: {
      value: 'private_key_jwt' as RequirableAuthMethod,
      description: 'By an assertion that it signs with one of its keys.',
    },
  },
})
