import { getRouteApi, Link } from '@tanstack/react-router'
import { graphql } from 'react-relay/hooks'
import type { providersScreenDeleteMutation } from '../../generated/providersScreenDeleteMutation.graphql.ts'
import type { providersScreenQuery } from '../../generated/providersScreenQuery.graphql.ts'
import type { providersScreenSubscription } from '../../generated/providersScreenSubscription.graphql.ts'
import { CopiedText } from '../../parts/copied-text.tsx'
import { ConfirmedButton } from '../../parts/dialog.tsx'
import { useLive } from '../../parts/live-events.ts'
import { useProblemMutation } from '../../parts/mutation.ts'
import { notify } from '../../parts/notices.tsx'
import { useScreenQuery } from '../../parts/screen-query.ts'
import { useMay } from '../../shell/viewer-scopes.ts'
import { EditedProvider, NewProvider, type Provider } from './provider-form.tsx'
import { ProviderTest } from './provider-test.tsx'
import { describeMissing, PROVIDER_TYPES } from './provider-types.ts'
import { RoleMapping } from './role-mapping.tsx'
import './providers.css'
import { t, tNodes } from '../../words/words.ts'

const route = getRouteApi('/providers')

/** The identity providers of the tenant: the gallery, those that are set up, and one of them. */
export function ProvidersScreen() {
  const { open, type, organization } = route.useSearch()
  const navigate = route.useNavigate()
  const mayWrite = useMay('idps:write')
  const [{ viewer, tenant, identityProviders }, refresh] = useScreenQuery<providersScreenQuery>(
    graphql`
      query providersScreenQuery {
        viewer {
          eventPosition
        }
        tenant {
          id
          settings {
            signInMethods
          }
        }
        identityProviders(first: 200) @connection(key: "providersScreen_identityProviders") {
          __id
          edges {
            node {
              ...providerForm_provider @relay(mask: false)
            }
          }
        }
      }
    `,
    {},
  )
  useLive<providersScreenSubscription>({
    subscription: graphql`
      subscription providersScreenSubscription($after: String) {
        events(types: [IDP_CREATED, IDP_UPDATED, IDP_DELETED], after: $after) {
          id
          position
        }
      }
    `,
    variables: { after: viewer?.eventPosition },
    onNext: () => refresh(),
  })
  if (!identityProviders) return <p className="empty">{t('You may not read identity providers.')}</p>
  const providers = identityProviders.edges.map(({ node }) => node)
  const connections = [identityProviders.__id]
  const opened = providers.find(({ id }) => id === open)
  return (
    <section className="screen">
      <header className="screen-head">
        <h1>{t('Providers')}</h1>
        {mayWrite && open && (
          <Link to="/providers" search={{}} className="button quiet">
            {t('Add a provider')}
          </Link>
        )}
      </header>
      {tenant && providers.length > 0 && !tenant.settings.signInMethods.includes('PROVIDER') && (
        <p className="problem">
          {tNodes('The page shows no provider, because {settings} does not have the method.', {
            settings: <Link to="/sign-in">{t('the sign-in')}</Link>,
          })}
        </p>
      )}
      {mayWrite && !open && (
        <ul className="gallery" aria-label={t('Add a provider')}>
          {Object.entries(PROVIDER_TYPES).map(([name, { label, advice }]) => (
            <li key={name}>
              <Link
                to="/providers"
                search={{ type: name, organization }}
                className="card"
                aria-current={type === name ? 'true' : undefined}
              >
                <strong>{t('Add {name}', { name: label })}</strong>
                <span>{advice}</span>
              </Link>
            </li>
          ))}
        </ul>
      )}
      <div className="columns">
        <section className="card">
          <h2>
            {t('Set up')} <span className="badge">{providers.length}</span>
          </h2>
          {providers.length === 0 && (
            <p className="empty">{t('None yet. Its button appears on the page when nothing is missing.')}</p>
          )}
          <ul className="providers">
            {providers.map((provider) => (
              <li key={provider.id}>
                <Link
                  to="/providers"
                  search={{ open: provider.id }}
                  aria-current={provider.id === open ? 'true' : undefined}
                >
                  <strong>{provider.name}</strong>
                  <span>
                    {PROVIDER_TYPES[provider.type]?.label ?? provider.type} · {provider.id}
                  </span>
                </Link>
                <Health provider={provider} />
              </li>
            ))}
          </ul>
        </section>
        <div>
          {type && mayWrite && type in PROVIDER_TYPES && (
            <NewProvider
              key={type}
              type={type}
              organizationId={organization}
              connections={connections}
              onDone={(id) => void navigate({ search: { open: id } })}
              onCancel={() => void navigate({ search: {} })}
            />
          )}
          {opened && (
            <OneProvider
              key={opened.id}
              provider={opened}
              connections={connections}
              onDeleted={() => void navigate({ search: {}, ignoreBlocker: true })}
            />
          )}
          {open && !opened && (
            <p className="empty card">{t('There is no such provider. It may have been deleted.')}</p>
          )}
        </div>
      </div>
    </section>
  )
}

const Health = ({ provider: { missing } }: { provider: Provider }) =>
  missing.length === 0 ? (
    <span className="badge calm">{t('Complete')}</span>
  ) : (
    <span className="badge warning">
      {t('Missing: {members}', { members: missing.map(describeMissing).join(', ') })}
    </span>
  )

function OneProvider({
  provider,
  connections,
  onDeleted,
}: {
  provider: Provider
  connections: string[]
  onDeleted: () => void
}) {
  const mayWrite = useMay('idps:write')
  const mayMap = useMay('roles:write') && mayWrite
  const remove = useProblemMutation<providersScreenDeleteMutation>(graphql`
    mutation providersScreenDeleteMutation($idpId: ID!, $connections: [ID!]!) {
      deleteIdentityProvider(input: { idpId: $idpId }) {
        ... on DeleteIdentityProviderPayload {
          deletedIdentityProviderId @deleteEdge(connections: $connections)
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  return (
    <>
      <section className="card">
        <h2>
          {provider.name} <Health provider={provider} />
        </h2>
        <dl className="facts urls">
          <dt>{t('Callback')}</dt>
          <dd>
            <CopiedText text={provider.callbackUrl} />
          </dd>
          <dt>{t('Logout')}</dt>
          <dd>
            <CopiedText text={provider.logoutCallbackUrl} />
          </dd>
          <dt>{t('Back-channel logout')}</dt>
          <dd>
            <CopiedText text={provider.backchannelLogoutUrl} />
          </dd>
        </dl>
        {(provider.domains?.length ?? 0) > 0 && !provider.hasProvenDomains && (
          <p className="hint">
            {t('Nobody has proven these domains: {domains}. You answer for them.', {
              domains: provider.domains?.join(', ') ?? '',
            })}
          </p>
        )}
        {mayWrite && <ProviderTest idpId={provider.id} mayConnect={!provider.organizationId} />}
      </section>
      <section className="card">
        <h2>{t('Settings')}</h2>
        <fieldset className="plain" disabled={!mayWrite}>
          <EditedProvider provider={provider} />
        </fieldset>
      </section>
      {provider.organizationId && (
        <section className="card">
          <h2>{t('Roles by a claim')}</h2>
          <Link to="/organizations/$organizationId" params={{ organizationId: provider.organizationId }}>
            {t('Organization')}
          </Link>
          <RoleMapping provider={provider} organizationId={provider.organizationId} mayWrite={mayMap} />
        </section>
      )}
      {mayWrite && (
        <section className="card">
          <ConfirmedButton
            label={t('Delete')}
            title={t('Delete {name}?', { name: provider.name })}
            consequence={
              <p>
                {t(
                  'Its users can no longer sign in with it, and their links are deleted. Sessions go on. Nothing brings it back.',
                )}
              </p>
            }
            name={provider.name}
            isRunning={remove.isRunning}
            problem={remove.problem}
            onConfirm={(close) =>
              remove.run({ idpId: provider.id, connections }, () => {
                close()
                notify(t('{name} is deleted.', { name: provider.name }))
                onDeleted()
              })
            }
          />
        </section>
      )}
    </>
  )
}
