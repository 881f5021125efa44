import '../users/users.css'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { graphql } from 'react-relay/hooks'
import type { organizationScreenDeleteMutation } from '../../generated/organizationScreenDeleteMutation.graphql.ts'
import type { organizationScreenQuery } from '../../generated/organizationScreenQuery.graphql.ts'
import { Avatar } from '../../parts/avatar.tsx'
import { CopiedText } from '../../parts/copied-text.tsx'
import { ConfirmedButton } from '../../parts/dialog.tsx'
import { LiveChanges } from '../../parts/live-changes.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { notify } from '../../parts/notices.tsx'
import { useScreenQuery } from '../../parts/screen-query.ts'
import { Time } from '../../parts/time.tsx'
import { useMay } from '../../shell/viewer-scopes.ts'
import { t } from '../../words/words.ts'
import { EventList } from '../log/event-list.tsx'
import { OrganizationApiKeys } from './organization-api-keys.tsx'
import { OrganizationDomains } from './organization-domains.tsx'
import { OrganizationForm } from './organization-form.tsx'
import { OrganizationGroups } from './organization-groups.tsx'
import { OrganizationMembers } from './organization-members.tsx'
import { OrganizationPolicy } from './organization-policy.tsx'
import { OrganizationProvider } from './organization-provider.tsx'
import { OrganizationRoles } from './organization-roles.tsx'
import { OrganizationWebhooks } from './organization-webhooks.tsx'

const route = getRouteApi('/organizations/$organizationId')

/** One organization: its settings, its members, and what happened. */
export function OrganizationScreen() {
  const { organizationId } = route.useParams()
  const navigate = useNavigate()
  const [data, refresh] = useScreenQuery<organizationScreenQuery>(
    graphql`
      query organizationScreenQuery($organizationId: ID!) {
        viewer {
          eventPosition
        }
        organization(id: $organizationId) {
          id
          name
          logoUrl
          updatedAt
          createdAt
          ...organizationForm_organization
          ...organizationMembers_organization
          ...organizationDomains_organization
          ...organizationPolicy_organization
          ...organizationProvider_organization
        }
        ...organizationRoles_query @arguments(organizationId: $organizationId)
        ...organizationGroups_query @arguments(organizationId: $organizationId)
        ...organizationApiKeys_query @arguments(organizationId: $organizationId)
        ...organizationWebhooks_query @arguments(organizationId: $organizationId)
        recent: events(filter: { organizationId: $organizationId }, direction: DESC, first: 30) {
          edges {
            node {
              id
              ...eventList_event
            }
          }
        }
      }
    `,
    { organizationId },
  )
  const mayFollow = useMay('events:read')
  const mayWrite = useMay('organizations:write')
  const mayReadUsers = useMay('users:read')
  const mayReadSessions = useMay('sessions:read')
  const mayWriteProviders = useMay('idps:write')
  const mayWriteRoles = useMay('roles:write')
  const mayWriteWebhooks = useMay('webhooks:write')
  const deletion = useProblemMutation<organizationScreenDeleteMutation>(graphql`
    mutation organizationScreenDeleteMutation($organizationId: ID!) {
      deleteOrganization(input: { organizationId: $organizationId }) {
        ... on DeleteOrganizationPayload {
          deletedOrganizationId
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const { organization, recent } = data
  if (!organization)
    return (
      <div className="outcome">
        <h1>{t('There is no such organization')}</h1>
        <p>{t('The organization may have been deleted since.')}</p>
        <Link to="/organizations" className="button">
          {t('All organizations')}
        </Link>
      </div>
    )
  const { name } = organization
  return (
    <section className="screen user-screen">
      {mayFollow && (
        <LiveChanges subjectId={organizationId} after={data.viewer?.eventPosition} onChange={refresh} />
      )}
      <header className="screen-head user-head">
        <Avatar name={name} picture={organization.logoUrl ?? null} />
        <div>
          <h1>{name}</h1>
          <CopiedText text={organization.id} />
        </div>
        {mayWrite && (
          <div className="actions">
            <ConfirmedButton
              label={t('Delete')}
              title={t('Delete {name}?', { name })}
              consequence={
                <p>
                  {t(
                    'The organization, its memberships and invitations are deleted. Nothing brings them back. The members stay users.',
                  )}
                </p>
              }
              name={name}
              isRunning={deletion.isRunning}
              problem={deletion.problem}
              onConfirm={(close) =>
                deletion.run({ organizationId }, () => {
                  close()
                  notify(t('{name} is deleted.', { name }))
                  // Edits of what is deleted are not worth a question.
                  void navigate({ to: '/organizations', ignoreBlocker: true })
                })
              }
            />
          </div>
        )}
      </header>
      <div className="columns">
        <div>
          <OrganizationForm key={organizationId} organization={organization} mayWrite={mayWrite} />
          <dl className="facts card">
            <dt>{t('Changed')}</dt>
            <dd>
              <Time at={organization.updatedAt} />
            </dd>
            <dt>{t('Created')}</dt>
            <dd>
              <Time at={organization.createdAt} />
            </dd>
            {mayReadUsers && (
              <>
                <dt>{t('Users')}</dt>
                <dd>
                  <Link to="/users" search={{ organization: organizationId }}>
                    {t('Those who are members')}
                  </Link>
                </dd>
              </>
            )}
            {mayReadSessions && (
              <>
                <dt>{t('Sessions')}</dt>
                <dd>
                  <Link to="/sessions" search={{ organization: organizationId }}>
                    {t('Those with tokens for it')}
                  </Link>
                </dd>
              </>
            )}
          </dl>
        </div>
        <div>
          <OrganizationMembers organization={organization} mayWrite={mayWrite} onChange={refresh} />
          <OrganizationRoles
            organizationId={organizationId}
            query={data}
            mayWrite={mayWriteRoles}
            onChange={refresh}
          />
          <OrganizationGroups organizationId={organizationId} query={data} onChange={refresh} />
          <OrganizationDomains organization={organization} mayWrite={mayWrite} onChange={refresh} />
          <OrganizationProvider
            organization={organization}
            mayMap={mayWriteProviders && mayWriteRoles}
            mayTest={mayWriteProviders}
          />
          <OrganizationPolicy organization={organization} mayWrite={mayWrite} onChange={refresh} />
          <OrganizationWebhooks
            organizationId={organizationId}
            query={data}
            mayWrite={mayWriteWebhooks && mayFollow}
            onChange={refresh}
          />
          {recent && (
            <section className="card">
              <h2>{t('What happened')}</h2>
              <EventList events={recent.edges.map(({ node }) => node)} about={organizationId} />
            </section>
          )}
        </div>
      </div>
      <OrganizationApiKeys organizationId={organizationId} query={data} onChange={refresh} />
    </section>
  )
}
