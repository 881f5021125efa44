import type { ClaimMappingInput } from '../../generated/updateClientMutation.graphql.ts'

type Mapping = Required<ClaimMappingInput>

const FIELD = { source: 'USER', value: null, scope: null } as const
const METADATA = { source: 'APP_METADATA', value: null } as const

/** The claims that libraries read, by the names of the libraries; `docs/claims.md` has the same lists. */
export const CLAIM_TEMPLATES: Readonly<Record<string, readonly Mapping[]>> = {
  'Kubernetes, Argo CD, GitLab, oauth2-proxy, Nextcloud': [
    { ...FIELD, claim: 'email', path: 'email', targets: ['ID_TOKEN'] },
    { ...FIELD, claim: 'email_verified', path: 'emailVerified', targets: ['ID_TOKEN'] },
    { ...METADATA, claim: 'groups', path: '/groups', scope: 'groups', targets: ['ID_TOKEN', 'USERINFO'] },
  ],
  Grafana: [
    {
      ...METADATA,
      claim: 'grafana_role',
      path: '/grafana/role',
      scope: 'grafana',
      targets: ['ID_TOKEN', 'USERINFO'],
    },
  ],
  MinIO: [{ ...METADATA, claim: 'policy', path: '/minio/policy', scope: 'minio', targets: ['ID_TOKEN'] }],
  'Supabase, PostGraphile': [
    {
      claim: 'role',
      source: 'CONSTANT',
      path: null,
      value: 'authenticated',
      scope: null,
      targets: ['ID_TOKEN', 'ACCESS_TOKEN'],
    },
  ],
  Hasura: [
    { ...METADATA, claim: 'hasura_role', path: '/hasura/role', scope: 'hasura', targets: ['ACCESS_TOKEN'] },
    { ...METADATA, claim: 'hasura_roles', path: '/hasura/roles', scope: 'hasura', targets: ['ACCESS_TOKEN'] },
  ],
}
