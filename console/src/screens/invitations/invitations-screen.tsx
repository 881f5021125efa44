import '../users/users.css'
import './invitations.css'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { graphql } from 'react-relay/hooks'
import { usePaginationFragment } from 'react-relay/relay-hooks/usePaginationFragment'
import type { invitationsScreen_invitations$key } from '../../generated/invitationsScreen_invitations.graphql.ts'
import type { invitationsScreenPageQuery } from '../../generated/invitationsScreenPageQuery.graphql.ts'
import type { invitationsScreenQuery } from '../../generated/invitationsScreenQuery.graphql.ts'
import type { invitationsScreenResendMutation } from '../../generated/invitationsScreenResendMutation.graphql.ts'
import type { invitationsScreenRevokeMutation } from '../../generated/invitationsScreenRevokeMutation.graphql.ts'
import { ConfirmedButton } from '../../parts/dialog.tsx'
import { ProblemText } from '../../parts/form.tsx'
import { LiveChanges } from '../../parts/live-changes.tsx'
import { countPage, MoreRows, PAGE_SIZE } from '../../parts/more-rows.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { notify } from '../../parts/notices.tsx'
import { useScreenQuery } from '../../parts/screen-query.ts'
import { Time } from '../../parts/time.tsx'
import { useMay } from '../../shell/viewer-scopes.ts'
import { t, tCount } from '../../words/words.ts'
import { InviteDialog, NO_DRAFT } from './invite-dialog.tsx'

const STATES: Record<string, readonly [label: string, className: string]> = {
  PENDING: [t('pending'), 'warning'],
  ACCEPTED: [t('accepted'), 'calm'],
  REVOKED: [t('revoked'), ''],
  EXPIRED: [t('expired'), 'danger'],
}

/** The invitations of the tenant, newest first, as they are accepted. */
export function InvitationsScreen() {
  const [query, refresh] = useScreenQuery<invitationsScreenQuery>(
    graphql`
      query invitationsScreenQuery($last: Int!) {
        viewer {
          eventPosition
        }
        ...roleChoice_query
        ...invitationsScreen_invitations @arguments(last: $last)
      }
    `,
    { last: PAGE_SIZE },
  )
  const { data, loadPrevious, hasPrevious, isLoadingPrevious } = usePaginationFragment<
    invitationsScreenPageQuery,
    invitationsScreen_invitations$key
  >(
    graphql`
      fragment invitationsScreen_invitations on Query
      @argumentDefinitions(before: { type: "String" }, last: { type: "Int" })
      @refetchable(queryName: "invitationsScreenPageQuery") {
        invitations(last: $last, before: $before) @connection(key: "invitationsScreen_invitations") {
          totalSize
          edges {
            node {
              id
              email
              name
              note
              roles
              status
              sentAt
              expiresAt
              acceptedAt
              userId
            }
          }
        }
      }
    `,
    query,
  )
  const mayFollow = useMay('events:read')
  const mayWrite = useMay('users:write')
  const [isOpen, setIsOpen] = useState(false)
  const [draft, setDraft] = useState(NO_DRAFT)
  const resend = useProblemMutation<invitationsScreenResendMutation>(graphql`
    mutation invitationsScreenResendMutation($invitationId: ID!) {
      resendInvitation(input: { invitationId: $invitationId }) {
        ... on ResendInvitationPayload {
          invitation {
            id
            status
            sentAt
            expiresAt
          }
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const revoke = useProblemMutation<invitationsScreenRevokeMutation>(graphql`
    mutation invitationsScreenRevokeMutation($invitationId: ID!) {
      revokeInvitation(input: { invitationId: $invitationId }) {
        ... on RevokeInvitationPayload {
          revokedInvitationId
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const { invitations } = data
  const refreshAll = () => refresh({ last: countPage(invitations?.edges.length) })
  if (!invitations) return <p className="empty">{t('You may not read invitations.')}</p>
  return (
    <section className="screen user-screen">
      {mayFollow && (
        <LiveChanges
          types={[
            'INVITATION_CREATED',
            'INVITATION_RESENT',
            'INVITATION_REVOKED',
            'INVITATION_ACCEPTED',
            'INVITATION_FAILED',
          ]}
          after={query.viewer?.eventPosition}
          onChange={refreshAll}
        />
      )}
      <header className="screen-head">
        <h1>{t('Invitations')}</h1>
        {mayWrite && (
          <button type="button" className="button" onClick={() => setIsOpen(true)}>
            {t('Invite people')}
          </button>
        )}
      </header>
      <p className="count" role="status">
        {tCount(invitations.totalSize, '{count} invitation', '{count} invitations')}
      </p>
      <ProblemText problem={resend.problem} />
      {invitations.edges.length === 0 ? (
        <p className="empty">{t('Nobody is invited yet. An invited person accepts by a link in a mail.')}</p>
      ) : (
        <table className="rows invitations">
          <thead>
            <tr>
              <th scope="col">{t('Person')}</th>
              <th scope="col">{t('State')}</th>
              <th scope="col">{t('Roles')}</th>
              <th scope="col">{t('Note')}</th>
              <th scope="col">{t('Sent')}</th>
              <th scope="col">
                <span className="hidden">{t('Actions')}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {[...invitations.edges].reverse().map(({ node }) => {
              const [label, className] = STATES[node.status] ?? [node.status, '']
              const isOpenInvitation = node.status === 'PENDING' || node.status === 'EXPIRED'
              return (
                <tr key={node.id}>
                  <th scope="row" className="truncated">
                    {node.userId ? (
                      <Link to="/users/$userId" params={{ userId: node.userId }}>
                        {node.email}
                      </Link>
                    ) : (
                      node.email
                    )}
                    {node.name && ` · ${node.name}`}
                  </th>
                  <td>
                    <span className={`badge ${className}`}>{label}</span>
                  </td>
                  <td>{node.roles.join(', ')}</td>
                  <td className="truncated">{node.note}</td>
                  <td data-label={t('Sent')}>
                    <Time at={node.sentAt} />
                  </td>
                  <td>
                    {mayWrite && isOpenInvitation && (
                      <div className="actions">
                        <button
                          type="button"
                          className="button quiet"
                          disabled={resend.isRunning}
                          aria-label={t('Resend to {email}', { email: node.email })}
                          onClick={() =>
                            resend.run({ invitationId: node.id }, () =>
                              notify(t('The invitation is sent to {email} again.', { email: node.email })),
                            )
                          }
                        >
                          {t('Resend')}
                        </button>
                        <ConfirmedButton
                          label={t('Revoke')}
                          title={t('Revoke the invitation of {email}?', { email: node.email })}
                          consequence={<p>{t('The link in the mail no longer works.')}</p>}
                          isRunning={revoke.isRunning}
                          problem={revoke.problem}
                          onConfirm={(close) =>
                            revoke.run({ invitationId: node.id }, () => {
                              close()
                              refreshAll()
                            })
                          }
                        />
                      </div>
                    )}
                  </td>
                </tr>
              )
            })}
          </tbody>
        </table>
      )}
      <MoreRows
        hasMore={hasPrevious}
        isLoading={isLoadingPrevious}
        load={() => void loadPrevious(PAGE_SIZE)}
      />
      {isOpen && (
        <InviteDialog
          query={query}
          draft={draft}
          onChange={setDraft}
          onInvited={refreshAll}
          onClose={() => setIsOpen(false)}
        />
      )}
    </section>
  )
}
