import { type FormEvent, useState } from 'react'
import { graphql, useFragment } from 'react-relay/hooks'
import type { managedInvitations_invitation$key } from '../../generated/managedInvitations_invitation.graphql.ts'
import type { managedInvitationsCreateMutation } from '../../generated/managedInvitationsCreateMutation.graphql.ts'
import type { managedInvitationsRevokeMutation } from '../../generated/managedInvitationsRevokeMutation.graphql.ts'
import { CheckField, Field, ProblemText, toggleChoice } from '../../parts/form.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { notify } from '../../parts/notices.tsx'
import { Time } from '../../parts/time.tsx'
import { t } from '../../words/words.ts'
import type { MemberRole } from './managed-members.tsx'

type Invitations = readonly (managedInvitations_invitation$key & { readonly id: string })[]

const STATUSES: Record<string, string> = {
  PENDING: t('pending'),
  ACCEPTED: t('accepted'),
  REVOKED: t('revoked'),
  EXPIRED: t('expired'),
}

/** Invites people to the organization, with roles. */
export function ManagedInvitations({
  organizationId,
  invitations,
  roles,
  onChange,
}: {
  organizationId: string
  invitations: Invitations
  roles: readonly MemberRole[]
  onChange: () => void
}) {
  const [email, setEmail] = useState('')
  const [isAdministrator, setIsAdministrator] = useState(false)
  const [appRoleIds, setAppRoleIds] = useState<readonly string[]>([])
  const invite = useProblemMutation<managedInvitationsCreateMutation>(graphql`
    mutation managedInvitationsCreateMutation($input: CreateInvitationInput!) {
      createInvitation(input: $input) {
        ... on CreateInvitationPayload {
          invitation {
            id
          }
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    invite.run({ input: { email, organizationId, isAdministrator, appRoleIds } }, () => {
      notify(t('{email} is invited by a mail.', { email }))
      setEmail('')
      onChange()
    })
  }
  return (
    <section className="card">
      <h2>{t('Invitations')}</h2>
      <form onSubmit={submit} noValidate>
        <Field label={t('E-mail address')} name="email" problem={invite.problem}>
          {(props) => (
            <input
              {...props}
              type="email"
              autoComplete="off"
              value={email}
              onChange={({ target }) => setEmail(target.value)}
            />
          )}
        </Field>
        <fieldset className="plain choices">
          <legend>{t('Roles that they get')}</legend>
          <CheckField label={t('Administrator')} checked={isAdministrator} onChange={setIsAdministrator} />
          {roles.map(({ id, name }) => (
            <CheckField
              key={id}
              label={name}
              checked={appRoleIds.includes(id)}
              onChange={(isOn) => setAppRoleIds(toggleChoice(appRoleIds, id, isOn))}
            />
          ))}
        </fieldset>
        <ProblemText problem={invite.problem} shown={['email']} />
        <div className="actions">
          <button type="submit" className="button" disabled={email === '' || invite.isRunning}>
            {t('Invite')}
          </button>
        </div>
      </form>
      <ul className="sessions">
        {invitations.toReversed().map((invitation) => (
          <InvitationRow key={invitation.id} invitation={invitation} onChange={onChange} />
        ))}
      </ul>
    </section>
  )
}

function InvitationRow({
  invitation,
  onChange,
}: {
  invitation: managedInvitations_invitation$key
  onChange: () => void
}) {
  const { id, email, status, sentAt } = useFragment(
    graphql`
      fragment managedInvitations_invitation on Invitation {
        id
        email
        status
        sentAt
      }
    `,
    invitation,
  )
  const revoke = useProblemMutation<managedInvitationsRevokeMutation>(graphql`
    mutation managedInvitationsRevokeMutation($invitationId: ID!) {
      revokeInvitation(input: { invitationId: $invitationId }) {
        ... on RevokeInvitationPayload {
          revokedInvitationId
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  return (
    <li>
      <div>
        <span>{email}</span>
        <span className="badge calm">{STATUSES[status] ?? status}</span>
        <ProblemText problem={revoke.problem} />
      </div>
      <Time at={sentAt} />
      {status === 'PENDING' && (
        <button
          type="button"
          className="button quiet"
          disabled={revoke.isRunning}
          onClick={() => revoke.run({ invitationId: id }, onChange)}
        >
          {t('Revoke')}
        </button>
      )}
    </li>
  )
}
