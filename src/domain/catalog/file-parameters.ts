/** The parameters that hold the address of a file, and what the file must be. */
export const FILE_PARAMETERS = { image_url: 'image', end_image_url: 'image', video_url: 'video' } as const
export type FileParameter = keyof typeof FILE_PARAMETERS
export type FileKind = (typeof FILE_PARAMETERS)[FileParameter]

export const fileParameters = Object.keys(FILE_PARAMETERS) as FileParameter[]
