import '../users/users.css'
import type { FormEvent } from 'react'
import { graphql } from 'react-relay/hooks'
import type { managedOrganizationQuery } from '../../generated/managedOrganizationQuery.graphql.ts'
import type { managedOrganizationUpdateMutation } from '../../generated/managedOrganizationUpdateMutation.graphql.ts'
import { Avatar } from '../../parts/avatar.tsx'
import { Field, ProblemText, readText } from '../../parts/form.tsx'
import { LiveChanges } from '../../parts/live-changes.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { notify } from '../../parts/notices.tsx'
import { useScreenQuery } from '../../parts/screen-query.ts'
import { Time } from '../../parts/time.tsx'
import { t } from '../../words/words.ts'
import { describeEvent } from '../log/event-words.ts'
import { ManagedInvitations } from './managed-invitations.tsx'
import { ManagedKeys } from './managed-keys.tsx'
import { ManagedMembers } from './managed-members.tsx'
import { OrganizationDomains } from './organization-domains.tsx'
import { OrganizationPolicy } from './organization-policy.tsx'
import { OrganizationProvider } from './organization-provider.tsx'
import { OrganizationRoles } from './organization-roles.tsx'
import { OrganizationWebhooks } from './organization-webhooks.tsx'

/** The organization of its administrator: members, invitations, own roles, domains, webhooks, API keys, and what happened. */
export function ManagedOrganizationScreen({ organizationId }: { organizationId: string }) {
  const [data, refresh] = useScreenQuery<managedOrganizationQuery>(
    graphql`
      query managedOrganizationQuery($organizationId: ID!) {
        viewer {
          eventPosition
        }
        organization(id: $organizationId) {
          id
          slug
          name
          logoUrl
          themeColor
          appRoles(first: 1000) {
            nodes {
              id
              name
            }
          }
          ...managedMembers_organization
          ...organizationPolicy_organization
          ...organizationDomains_organization
          ...organizationProvider_organization
        }
        ...organizationRoles_query @arguments(organizationId: $organizationId)
        ...organizationWebhooks_query @arguments(organizationId: $organizationId)
        invitations(filter: { organizationId: $organizationId }, last: 50) {
          nodes {
            id
            ...managedInvitations_invitation
          }
        }
        apiKeys(filter: { organizationId: $organizationId }, first: 100) {
          nodes {
            id
            ...managedKeys_apiKey
          }
        }
        recent: events(filter: { organizationId: $organizationId }, direction: DESC, first: 30) {
          nodes {
            id
            typeName
            occurredAt
            ... on AuditEvent {
              detail
            }
            ... on OrganizationEvent {
              detail
            }
            ... on MembershipEvent {
              detail
            }
            ... on SessionEvent {
              reason
            }
          }
        }
      }
    `,
    { organizationId },
  )
  const { organization } = data
  if (!organization) return <p className="empty">{t('There is no such organization')}</p>
  const roles = organization.appRoles?.nodes ?? []
  return (
    <section className="screen user-screen">
      <LiveChanges organizationId={organizationId} after={data.viewer?.eventPosition} onChange={refresh} />
      <header className="screen-head user-head">
        <Avatar name={organization.name} picture={organization.logoUrl ?? null} />
        <h1>{organization.name}</h1>
      </header>
      <div className="columns">
        <div>
          <Details key={organization.name} organization={organization} onChange={refresh} />
          <OrganizationPolicy organization={organization} mayWrite onChange={refresh} />
          <section className="card">
            <h2>{t('What happened')}</h2>
            <ul className="sessions">
              {data.recent?.nodes.map((event) => (
                <li key={event.id}>
                  <span>{describeEvent(event) ?? <code>{event.typeName}</code>}</span>
                  <Time at={event.occurredAt} />
                </li>
              ))}
            </ul>
          </section>
        </div>
        <div>
          <ManagedMembers organization={organization} roles={roles} onChange={refresh} />
          <ManagedInvitations
            organizationId={organizationId}
            invitations={data.invitations?.nodes ?? []}
            roles={roles}
            onChange={refresh}
          />
          <OrganizationRoles organizationId={organizationId} query={data} mayWrite onChange={refresh} />
          <OrganizationDomains organization={organization} mayWrite onChange={refresh} />
          <OrganizationProvider organization={organization} mayMap mayTest />
          <OrganizationWebhooks organizationId={organizationId} query={data} mayWrite onChange={refresh} />
          <ManagedKeys apiKeys={data.apiKeys?.nodes ?? []} onChange={refresh} />
        </div>
      </div>
    </section>
  )
}

type Organization = NonNullable<managedOrganizationQuery['response']['organization']>

/** Name, logo and color. */
function Details({ organization, onChange }: { organization: Organization; onChange: () => void }) {
  const update = useProblemMutation<managedOrganizationUpdateMutation>(graphql`
    mutation managedOrganizationUpdateMutation($input: UpdateOrganizationInput!) {
      updateOrganization(input: $input) {
        ... on UpdateOrganizationPayload {
          organization {
            id
            name
            logoUrl
            themeColor
          }
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const [name, logoUrl, themeColor] = ['name', 'logoUrl', 'themeColor'].map((field) =>
      readText(form, field),
    )
    update.run({ input: { organizationId: organization.id, name, logoUrl, themeColor } }, () => {
      notify(t('Saved.'))
      onChange()
    })
  }
  const { problem } = update
  return (
    <form className="card" onSubmit={submit} noValidate>
      <h2>{t('Organization')}</h2>
      <Field label={t('Name')} name="name" problem={problem}>
        {(props) => <input {...props} autoComplete="off" defaultValue={organization.name} />}
      </Field>
      <Field label={t('URL of the logo')} name="logoUrl" problem={problem}>
        {(props) => (
          <input {...props} type="url" autoComplete="off" defaultValue={organization.logoUrl ?? ''} />
        )}
      </Field>
      <Field
        label={t('Accent color')}
        name="themeColor"
        hint={t('A color such as #0a7c66.')}
        problem={problem}
      >
        {(props) => <input {...props} autoComplete="off" defaultValue={organization.themeColor ?? ''} />}
      </Field>
      <ProblemText problem={problem} shown={['name', 'logoUrl', 'themeColor']} />
      <div className="actions">
        <button type="submit" className="button" disabled={update.isRunning}>
          {t('Save')}
        </button>
      </div>
    </form>
  )
}
