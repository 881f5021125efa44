/** The picture of a person, or the initial. */
export const Avatar = ({ name, picture }: { name: string; picture: string | null }) =>
  picture ? (
    <img className="avatar" src={picture} alt="" referrerPolicy="no-referrer" loading="lazy" />
  ) : (
    <span className="avatar" aria-hidden="true">
      {(name.trim().charAt(0) || '?').toUpperCase()}
    </span>
  )
