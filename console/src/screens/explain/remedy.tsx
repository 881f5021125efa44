import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { graphql } from 'react-relay/hooks'
import type { explainScreenQuery$data } from '../../generated/explainScreenQuery.graphql.ts'
import type { remedyResetMutation } from '../../generated/remedyResetMutation.graphql.ts'
import type { userActionsUnlockMutation } from '../../generated/userActionsUnlockMutation.graphql.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { ProblemText } from '../../parts/form.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { notify } from '../../parts/notices.tsx'
import { useMay } from '../../shell/viewer-scopes.ts'
import { t, tNodes } from '../../words/words.ts'
import { toPathId } from '../applications/kinds.ts'
import { useUpdateClient } from '../applications/update-client.ts'
import { UNLOCK_USER } from '../users/user-actions.ts'
import type { Step } from './explain-words.ts'

export type Explanation = NonNullable<explainScreenQuery$data['explainSignIn']>
type Given = { remedy: NonNullable<Step['remedy']>; explanation: Explanation; onChange: () => void }

/** The screens on which a remedy is done, and its label. */
const PLACES: Record<
  string,
  { at: 'sign-in' | 'user-profile' | 'user-sign-in' | 'client' | 'provider' | 'clients'; label: string }
> = {
  ADD_WEB_ORIGIN: { at: 'client', label: t('Add the web origin') },
  ASSIGN_SCOPE: { at: 'client', label: t('Permit the scope') },
  DECLARE_RESOURCE: { at: 'clients', label: t('Find the application of the API') },
  OPEN_SIGN_UP: { at: 'sign-in', label: t('Let people sign up') },
  ADD_METHOD: { at: 'sign-in', label: t('Offer the method') },
  ADD_CHANNEL: { at: 'sign-in', label: t('Change how codes are sent') },
  ADD_COUNTRY: { at: 'sign-in', label: t('Add the country') },
  COMPLETE_PROVIDER: { at: 'provider', label: t('Complete the provider') },
  ADD_ADDRESS: { at: 'user-profile', label: t('Add an address') },
  VERIFY_ADDRESS: { at: 'user-profile', label: t('Verify the address') },
  ENROLL_PASSKEY: { at: 'user-sign-in', label: t('Send a link for a passkey') },
  LINK_IDENTITY: { at: 'user-sign-in', label: t('Link an account') },
}

/** The change that lets a step pass: done here, or a link to where it is done. */
export function Remedy(given: Given) {
  const { remedy, explanation } = given
  const mayWriteUsers = useMay('users:write')
  const mayWriteClients = useMay('clients:write')
  const { action } = remedy
  const place = PLACES[action]
  if (place) return <RemedyLink {...place} targetId={remedy.targetId} explanation={explanation} />
  if (action === 'ADD_REDIRECT_URI') return mayWriteClients && <AddRedirectUri {...given} />
  if (action === 'UNLOCK_USER') return mayWriteUsers && <UnlockUser {...given} />
  if (action === 'RESET_LIMITS') return mayWriteUsers && <ResetLimits {...given} />
  return <span className="remedy">{describeRemedy(remedy)}</span>
}

/** What only the application can do. */
function describeRemedy({ action, parameter, value }: Given['remedy']): ReactNode {
  if (action === 'CHOOSE_CLIENT') return t('Choose an application at which people sign in.')
  if (action === 'CHANGE_ORGANIZATION') return t('The organization has to change its rules.')
  if (action === 'PUSH_REQUEST') return t('The application has to push its request.')
  if (!parameter) return t('The application has to correct its request.')
  const name = { parameter: <code key="parameter">{value ? `${parameter}=${value}` : parameter}</code> }
  return value
    ? tNodes('The application has to send {parameter}.', name)
    : tNodes('The application has to correct {parameter}, or leave it out.', name)
}

function RemedyLink({
  at,
  label,
  targetId,
  explanation,
}: {
  at: (typeof PLACES)[string]['at']
  label: string
  targetId: string | null | undefined
  explanation: Explanation
}) {
  const userId = explanation.userId ?? ''
  if (at === 'sign-in')
    return (
      <Link className="button quiet" to="/sign-in">
        {label}
      </Link>
    )
  if (at === 'clients')
    return (
      <Link className="button quiet" to="/applications">
        {label}
      </Link>
    )
  if (at === 'provider')
    return (
      <Link className="button quiet" to="/providers" search={{ open: targetId ?? undefined }}>
        {label}
      </Link>
    )
  if (at === 'client')
    return (
      <Link
        className="button quiet"
        to="/applications/$clientId"
        params={{ clientId: toPathId(explanation.clientId ?? '') }}
        search={{ tab: 'settings' }}
      >
        {label}
      </Link>
    )
  const tab = at === 'user-profile' ? 'profile' : 'sign-in'
  return (
    <Link className="button quiet" to="/users/$userId" params={{ userId }} search={{ tab }}>
      {label}
    </Link>
  )
}

function UnlockUser({ explanation: { userId }, onChange }: Given) {
  const unlock = useProblemMutation<userActionsUnlockMutation>(UNLOCK_USER)
  return (
    <>
      <button
        type="button"
        className="button"
        disabled={unlock.isRunning}
        onClick={() => unlock.run({ userId: userId ?? '' }, onChange)}
      >
        {t('Unlock the user')}
      </button>
      <ProblemText problem={unlock.problem} />
    </>
  )
}

function ResetLimits({ explanation: { userId }, onChange }: Given) {
  const reset = useProblemMutation<remedyResetMutation>(graphql`
    mutation remedyResetMutation($userId: ID!) {
      resetSignInLimits(input: { userId: $userId }) {
        ... on ResetSignInLimitsPayload {
          userId
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  return (
    <>
      <button
        type="button"
        className="button"
        disabled={reset.isRunning}
        onClick={() => reset.run({ userId: userId ?? '' }, onChange)}
      >
        {t('Reset the limits')}
      </button>
      <ProblemText problem={reset.problem} />
    </>
  )
}

/** Adds the redirect URI, after the person has said that it belongs to the application. */
function AddRedirectUri({ remedy: { value }, explanation: { client }, onChange }: Given) {
  const [isOpen, setIsOpen] = useState(false)
  const update = useUpdateClient()
  if (!client || !value) return null
  const close = () => setIsOpen(false)
  const add = () =>
    update.run(
      {
        input: {
          clientId: client.id,
          callbacks: [...client.callbacks, value],
          expectedUpdatedAt: client.updatedAt,
        },
      },
      () => {
        close()
        notify(t('The redirect URI is added.'))
        onChange()
      },
    )
  return (
    <>
      <button type="button" className="button" onClick={() => setIsOpen(true)}>
        {t('Add the redirect URI')}
      </button>
      {isOpen && (
        <Dialog title={t('Add a redirect URI to {name}?', { name: client.name })} onClose={close}>
          <p className="address">
            <code>{value}</code>
          </p>
          <p>
            {t(
              'Anybody can send such a request. Add the address only if it belongs to the application: people, and their sign-in, are sent there.',
            )}
          </p>
          <ProblemText problem={update.problem} />
          <div className="actions">
            <button type="button" className="button" disabled={update.isRunning} onClick={add}>
              {t('Add')}
            </button>
            <button type="button" className="button quiet" onClick={close}>
              {t('Cancel')}
            </button>
          </div>
        </Dialog>
      )}
    </>
  )
}
