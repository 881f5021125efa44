import { Link } from '@tanstack/react-router'
import { graphql, useFragment } from 'react-relay/hooks'
import type { organizationProvider_organization$key } from '../../generated/organizationProvider_organization.graphql.ts'
import { CopiedText } from '../../parts/copied-text.tsx'
import { useMay } from '../../shell/viewer-scopes.ts'
import { t } from '../../words/words.ts'
import { ProviderTest } from '../providers/provider-test.tsx'
import { describeMissing } from '../providers/provider-types.ts'
import { RoleMapping } from '../providers/role-mapping.tsx'
import { OrganizationSetupLink } from './organization-setup-link.tsx'

/** The identity provider of an organization, with the roles that it gives, and the link with which the customer sets it up. */
export function OrganizationProvider({
  organization,
  mayMap,
  mayTest,
}: {
  organization: organizationProvider_organization$key
  mayMap: boolean
  mayTest: boolean
}) {
  const { id, identityProviders, domains } = useFragment(
    graphql`
      fragment organizationProvider_organization on Organization {
        id
        domains(first: 50) {
          nodes {
            domain
            state
          }
        }
        identityProviders(first: 10) {
          nodes {
            id
            name
            updatedAt
            issuer
            missing
            callbackUrl
            domains
            roleClaim
            claimRoles {
              value
              appRoleId
            }
          }
        }
      }
    `,
    organization,
  )
  const mayRead = useMay('idps:read')
  const mayWrite = useMay('idps:write')
  const maySetUp = useMay('organizations:write') && mayWrite
  if (!identityProviders) return null
  const proven = (domains?.nodes ?? []).filter(({ state }) => state !== 'PENDING')
  return (
    <section className="card">
      <h2>{t('Identity provider')}</h2>
      {identityProviders.nodes.length === 0 && (
        <p className="empty">{t('The organization has no identity provider yet.')}</p>
      )}
      {identityProviders.nodes.map((provider) => {
        const served = proven
          .map(({ domain }) => domain)
          .filter((domain) => !provider.domains?.length || provider.domains.includes(domain))
        return (
          <section key={provider.id} className="role-mapping" aria-label={provider.name}>
            <h3>{provider.name}</h3>
            <dl className="facts urls">
              <dt>{t('State')}</dt>
              <dd>
                {provider.missing.length === 0
                  ? t('Complete')
                  : t('Missing: {members}', { members: provider.missing.map(describeMissing).join(', ') })}
              </dd>
              <dt>{t('Issuer')}</dt>
              <dd>{provider.issuer ?? <span className="none">{t('none')}</span>}</dd>
              <dt>{t('Callback')}</dt>
              <dd>
                <CopiedText text={provider.callbackUrl} />
              </dd>
              <dt>{t('Domains')}</dt>
              <dd>
                {served.length > 0
                  ? t('proven: {domains}', { domains: served.join(', ') })
                  : t('None is proven: nobody is led there.')}
              </dd>
            </dl>
            <RoleMapping provider={provider} organizationId={id} mayWrite={mayMap} />
            {mayRead && (
              <Link to="/providers" search={{ open: provider.id }}>
                {t('Settings of {name}', { name: provider.name })}
              </Link>
            )}
            {mayTest && <ProviderTest idpId={provider.id} />}
          </section>
        )
      })}
      {mayWrite && (
        <Link to="/providers" search={{ type: 'OIDC', organization: id }} className="button quiet">
          {t('Add a provider')}
        </Link>
      )}
      {maySetUp && <OrganizationSetupLink organizationId={id} />}
    </section>
  )
}
