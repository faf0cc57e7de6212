// Why a binding has no price list.

/** fal counts them itself, and reports units that it does not name. */
export const BY_PIXEL = 'it charges by pixels, and does not report how many it counted'

export const BY_PLAN = 'it charges the credits of a plan, whose price depends on the plan'
