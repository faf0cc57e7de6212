import { aspectRatio, imageFormat, numImages, prompt, safetyTolerance, seed } from '../parameters.ts'

/** Parameters of all Imagen 4 models. */
export const imagen4Parameters = {
  prompt: prompt('The content of the image.'),
  aspect_ratio: aspectRatio(['1:1', '16:9', '9:16', '4:3', '3:4'], '1:1'),
  num_images: numImages(4),
  output_format: imageFormat(['png', 'jpeg', 'webp'], 'png'),
  safety_tolerance: safetyTolerance(6, '4'),
  seed: seed('image'),
}
