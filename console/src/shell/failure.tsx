import { ApiError } from '../api/api-error.ts'
import { signOut, startSignIn } from '../auth/sign-in.ts'
import { CONSOLE_PATH } from '../config.ts'
import { CopiedText } from '../parts/copied-text.tsx'

const describe = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** An error that leaves nothing to show. */
export const Failure = ({ error }: { error: unknown }) => (
  <main className="outcome" role="alert">
    <h1>The console cannot show this</h1>
    <p>{describe(error)}</p>
    {error instanceof ApiError && error.requestId && (
      <p>
        Number of the request: <CopiedText text={error.requestId} />
      </p>
    )}
    <p className="actions">
      <button type="button" className="button" onClick={() => location.reload()}>
        Try again
      </button>
      <button type="button" className="button quiet" onClick={() => void startSignIn(CONSOLE_PATH)}>
        Sign in again
      </button>
    </p>
  </main>
)

export const NotFound = () => (
  <div className="outcome">
    <h1>This page does not exist</h1>
    <p>The address may be from another version of the console.</p>
  </div>
)

/** For users who may not see anything of the tenant. */
export const NoRole = () => (
  <main className="outcome">
    <h1>You have no role here</h1>
    <p>
      You are signed in, but no role permits you to see this tenant. An administrator gives roles, and so does{' '}
      <code>vestibule admin grant</code>.
    </p>
    <p className="actions">
      <button type="button" className="button quiet" onClick={() => void signOut()}>
        Sign out
      </button>
    </p>
  </main>
)
