import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense, useState } from 'react'
import { graphql } from 'react-relay/hooks'
import { deployment } from '../../config.ts'
import type { applicationScreenDeleteMutation } from '../../generated/applicationScreenDeleteMutation.graphql.ts'
import type { applicationScreenQuery } from '../../generated/applicationScreenQuery.graphql.ts'
import type { applicationScreenSubscription } from '../../generated/applicationScreenSubscription.graphql.ts'
import { CopiedText } from '../../parts/copied-text.tsx'
import { ConfirmedButton } from '../../parts/dialog.tsx'
import type { Edits } from '../../parts/edits.ts'
import { useLive } from '../../parts/live-events.ts'
import { useProblemMutation } from '../../parts/mutation.ts'
import { notify } from '../../parts/notices.tsx'
import { useScreenQuery } from '../../parts/screen-query.ts'
import { LeavingGuard } from '../../parts/settings-form.tsx'
import { Time } from '../../parts/time.tsx'
import { useMay } from '../../shell/viewer-scopes.ts'
import { EventList } from '../log/event-list.tsx'
import { HeldRoles } from '../permissions/held-roles.tsx'
import { ApplicationSecrets } from './application-secrets.tsx'
import { ApplicationSessions } from './application-sessions.tsx'
import './applications.css'
import '../../parts/tabs.css'
import { t } from '../../words/words.ts'
import { ApplicationSettings, type ClientForm, KindChange } from './application-settings.tsx'
import { ClaimMappings } from './claim-mappings.tsx'
import {
  describeAppType,
  describeRegistration,
  fromPathId,
  hasSecret,
  KINDS,
  type Kind,
  toPathId,
} from './kinds.ts'
import { Rejections } from './rejections.tsx'

const SnippetView = lazy(() =>
  import('./snippet-view.tsx').then((module) => ({ default: module.SnippetView })),
)

const ApplicationDocuments = lazy(() =>
  import('./application-documents.tsx').then((module) => ({ default: module.ApplicationDocuments })),
)

const TryIt = lazy(() => import('./try-it.tsx').then((module) => ({ default: module.TryIt })))

const route = getRouteApi('/applications/$clientId')

/** One application, whose tabs are in the URL. */
export function ApplicationScreen() {
  const clientId = fromPathId(route.useParams().clientId)
  return <Application key={clientId} clientId={clientId} />
}

function Application({ clientId }: { clientId: string }) {
  const { tab } = route.useSearch()
  const navigate = useNavigate()
  const [edits, setEdits] = useState<Edits<ClientForm>>(null)
  const [data, refresh] = useScreenQuery<applicationScreenQuery>(
    graphql`
      query applicationScreenQuery($clientId: ID!) {
        viewer {
          eventPosition
        }
        client(id: $clientId) {
          id
          name
          appType
          description
          clientUri
          logoUrl
          callbacks
          tokenEndpointAuthMethod
          registeredBy
          createdAt
          updatedAt
          appRoles {
            id
            name
          }
          ...claimMappings_client
          ...applicationSettings_client
          ...rejections_client
          ...tryIt_client
        }
        ...applicationSessions_sessions @arguments(clientId: $clientId)
        ...rejections_events @arguments(clientId: $clientId)
        changes: events(
          filter: { subjectId: $clientId, types: [CLIENT_CREATED, CLIENT_UPDATED] }
          direction: DESC
          first: 100
        ) {
          nodes {
            id
            ...eventList_event
            ... on AuditEvent {
              changedFields
            }
          }
        }
      }
    `,
    { clientId },
  )
  const after = data.viewer?.eventPosition
  useLive<applicationScreenSubscription>({
    subscription: graphql`
      subscription applicationScreenSubscription($clientId: ID, $after: String) {
        events(
          subjectId: $clientId
          types: [
            CLIENT_UPDATED
            CLIENT_DELETED
            CLIENT_APP_ROLES_CHANGED
            AUTHORIZE_REFUSED
            TOKEN_REFUSED
          ]
          after: $after
        ) {
          position
        }
      }
    `,
    variables: { clientId, after },
    onNext: () => refresh(),
  })
  const mayWrite = useMay('clients:write')
  const remove = useProblemMutation<applicationScreenDeleteMutation>(graphql`
    mutation applicationScreenDeleteMutation($clientId: ID!) {
      deleteClient(input: { clientId: $clientId }) {
        ... on DeleteClientPayload {
          deletedClientId
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const { client, changes } = data
  if (!client)
    return (
      <div className="outcome">
        <h1>{t('There is no such application')}</h1>
        <p>{t('It may have been deleted since.')}</p>
        <Link to="/applications" className="button">
          {t('All applications')}
        </Link>
      </div>
    )
  const isThisConsole = client.id === deployment.clientId
  const tabs: Record<string, { label: string; content: ReactNode }> = {
    overview: {
      label: t('Overview'),
      content: (
        <>
          <div className="columns">
            <dl className="facts card">
              <dt>{t('Kind')}</dt>
              <dd>{describeAppType(client.appType)}</dd>
              {client.description && (
                <>
                  <dt>{t('Description')}</dt>
                  <dd>{client.description}</dd>
                </>
              )}
              <dt>{t('Home page')}</dt>
              <dd>
                {client.clientUri ? (
                  <a href={client.clientUri} target="_blank" rel="noreferrer">
                    {client.clientUri}
                  </a>
                ) : (
                  <span className="none">{t('none')}</span>
                )}
              </dd>
              <dt>{t('Registered by')}</dt>
              <dd>{describeRegistration(client.registeredBy)}</dd>
              <dt>{t('Created')}</dt>
              <dd>
                <Time at={client.createdAt} />
              </dd>
              <dt>{t('Changed')}</dt>
              <dd>
                <Time at={client.updatedAt} />
              </dd>
            </dl>
            <div>
              <Endpoints appType={client.appType} />
              <Suspense>
                <SnippetView
                  kinds={(Object.keys(KINDS) as Kind[]).filter(
                    (kind) => KINDS[kind].appType === client.appType,
                  )}
                  clientId={client.id}
                  redirectUri={client.callbacks[0]}
                />
              </Suspense>
            </div>
          </div>
          {mayWrite && !isThisConsole && (
            <section className="card danger-zone">
              <h2>{t('Danger zone')}</h2>
              <div className="actions">
                <KindChange key={client.appType} client={client} />
                <ConfirmedButton
                  label={t('Delete the application')}
                  title={t('Delete {name}', { name: client.name })}
                  consequence={t(
                    'Its tokens are revoked, its sessions end, and what people agreed to is forgotten. Nothing brings it back.',
                  )}
                  name={client.name}
                  isRunning={remove.isRunning}
                  problem={remove.problem}
                  onConfirm={(close) =>
                    remove.run({ clientId }, () => {
                      close()
                      notify(t('{name} is deleted.', { name: client.name }))
                      // Edits of what is deleted are not worth a question.
                      void navigate({ to: '/applications', ignoreBlocker: true })
                    })
                  }
                />
              </div>
            </section>
          )}
        </>
      ),
    },
    settings: {
      label: t('Settings'),
      content: <ApplicationSettings client={client} edits={edits} setEdits={setEdits} />,
    },
    ...(hasSecret(client.appType) &&
      client.tokenEndpointAuthMethod !== 'PRIVATE_KEY_JWT' && {
        secret: {
          label: t('Secret'),
          content: <ApplicationSecrets clientId={client.id} name={client.name} />,
        },
      }),
    ...(client.appType === 'MACHINE' &&
      client.appRoles && {
        roles: {
          label: t('Roles at APIs'),
          content: (
            <section className="card">
              <h2>{t('Roles at APIs')}</h2>
              <p className="hint">{t('For the tokens that it gets on its own behalf.')}</p>
              <HeldRoles
                kind="client"
                id={client.id}
                name={client.name}
                holder="CLIENT"
                held={client.appRoles}
                onChange={refresh}
              />
            </section>
          ),
        },
      }),
    claims: { label: t('Claims'), content: <ClaimMappings client={client} /> },
    sessions: {
      label: t('Sessions'),
      content: (
        <ApplicationSessions
          query={data}
          clientId={client.id}
          name={client.name}
          after={after}
          onStarted={refresh}
        />
      ),
    },
    documents: {
      label: t('Documents'),
      content: (
        <Suspense>
          <ApplicationDocuments clientId={client.id} />
        </Suspense>
      ),
    },
    ...(mayWrite &&
      !isThisConsole &&
      client.appType !== 'MACHINE' && {
        try: {
          label: t('Try it'),
          content: (
            <Suspense>
              <TryIt client={client} />
            </Suspense>
          ),
        },
      }),
    rejected: { label: t('Rejected'), content: <Rejections client={client} query={data} /> },
    history: { label: t('History'), content: changes && <History events={changes.nodes} /> },
  }
  const shown = tab !== undefined && Object.hasOwn(tabs, tab) ? tab : 'overview'
  return (
    <section className="screen">
      <header className="screen-head user-head">
        {client.logoUrl && (
          <img className="avatar" src={client.logoUrl} alt="" referrerPolicy="no-referrer" />
        )}
        <div>
          <h1>{client.name}</h1>
          <CopiedText text={client.id} />
        </div>
        {isThisConsole && <span className="badge">{t('This console')}</span>}
        {client.appType !== 'MACHINE' && (
          <div className="actions">
            <Link className="button quiet" to="/explain" search={{ client: client.id }}>
              {t('Explain a sign-in')}
            </Link>
          </div>
        )}
      </header>
      <nav aria-label={t('Application')} className="tabs">
        {Object.entries(tabs).map(([name, { label }]) => (
          <Link
            key={name}
            to="/applications/$clientId"
            params={{ clientId: toPathId(clientId) }}
            search={{ tab: name === 'overview' ? undefined : name }}
            activeOptions={{ includeSearch: true, explicitUndefined: true }}
          >
            {label}
            {name === 'settings' && edits && <span className="badge">{t('not saved')}</span>}
          </Link>
        ))}
      </nav>
      {tabs[shown]?.content}
      {edits && <LeavingGuard />}
    </section>
  )
}

/** Where the application finds the server. */
function Endpoints({ appType }: { appType: string }) {
  const { issuer } = deployment
  const endpoints = [
    [t('Issuer'), issuer],
    [t('Discovery'), `${issuer}/.well-known/openid-configuration`],
    ...(appType === 'MACHINE' ? [] : [[t('Authorization'), `${issuer}/oidc/authorize`]]),
    [t('Token'), `${issuer}/oidc/token`],
    ...(appType === 'MACHINE'
      ? []
      : [
          [t('Userinfo'), `${issuer}/oidc/userinfo`],
          [t('Logout'), `${issuer}/oidc/logout`],
        ]),
    [t('Key set'), `${issuer}/.well-known/jwks.json`],
  ] as const
  return (
    <dl className="facts card">
      {endpoints.map(([label, url]) => (
        <div key={label} className="fact">
          <dt>{label}</dt>
          <dd>
            <CopiedText text={url as string} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** Who changed which settings. */
function History({
  events,
}: {
  events: readonly ({ readonly id: string; readonly changedFields?: readonly string[] } & Parameters<
    typeof EventList
  >[0]['events'][number])[]
}) {
  const [field, setField] = useState('')
  const fields = [...new Set(events.flatMap(({ changedFields = [] }) => changedFields))].sort()
  return (
    <section className="card">
      <h2>
        {t('Changes')}
        <select aria-label={t('Setting')} value={field} onChange={({ target }) => setField(target.value)}>
          <option value="">{t('of any setting')}</option>
          {fields.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </h2>
      <EventList
        events={events.filter(({ changedFields }) => field === '' || changedFields?.includes(field))}
      />
    </section>
  )
}
