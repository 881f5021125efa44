/** The number of rows of a list, and of those that came since it was loaded. */
export function ListCount({
  total,
  one,
  many,
  fresh,
  show,
}: {
  total: number | undefined
  one: string
  many: string
  fresh: number
  show: () => void
}) {
  return (
    <p className="count" role="status">
      {total !== undefined && `${total.toLocaleString('en')} ${total === 1 ? one : many}`}
      {fresh > 0 && (
        <button type="button" className="chip fresh" onClick={show}>
          {fresh} new: show
        </button>
      )}
    </p>
  )
}

/** Why rows are missing. */
export const ListProblem = ({ problem, retry }: { problem: string | null; retry: () => void }) =>
  problem !== null && (
    <p className="problem" role="alert">
      {problem}{' '}
      <button type="button" className="button quiet" onClick={retry}>
        Try again
      </button>
    </p>
  )
